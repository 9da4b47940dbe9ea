"""Operands that a launch of its own copies to the workspace, ahead of the product."""

from dataclasses import replace

import numpy as np
import pytest
from matmul.gemm_cases import SPEC
from refusals import illegal

from autotune import emulator
from autotune.codegen.matmul.gemm.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.headers import used_source
from autotune.emulator import verify
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.matmul.gemm import OPERATOR

TILES = "BM=32 BN=32 BK=32 WM=16 WN=16 vector_d=1"
BOTH = MmaSyncSchedule.parse(f"{TILES} prepare_a=copy prepare_b=copy".split())
ODD = GemmProblem(33, 35, 83, transpose_b=True, align_a=2, align_b=2)
ACROSS = GemmProblem(33, 35, 83, transpose_a=True, batch=2, stride_a=83 * 33 + 5, align_a=2, align_b=2)
LARGE = GemmProblem(4095, 4096, 4097)


def program(problem, schedule=BOTH):
    return OPERATOR.program(problem, schedule, SPEC)


@pytest.mark.parametrize("dtype", [DType.UINT8, DType.UINT16, DType.UINT32])
@pytest.mark.parametrize("aligned", [False, True])
def test_rows_that_begin_anywhere_are_copied_and_transposed(dtype, *, aligned):
    """Zeros follow each row of a copy; nothing is read before the first element or behind the last."""
    batch, rows, columns, leading, width = 2, 37, 48 if aligned else 53, 64 if aligned else 57, 16 // dtype.bytes
    stride = rows * leading + (0 if aligned else 3)
    sizes, copies = f"{rows}, {columns}, {batch}, {leading}ll, {stride}ll", []
    tensors = [
        Tensor("x", dtype, (batch, rows, columns), (stride, leading, 1), Role.INPUT, 16 if aligned else dtype.bytes)
    ]
    body = used_source("matmul/gemm/prepare.cuh", "OperandCopy", {})
    for name, (m, n) in {"copied": (rows, columns), "transposed": (columns, rows)}.items():
        target = round_up(n, width)
        tensors.append(Tensor(name, dtype, (batch, m, target), (m * target, target, 1), Role.OUTPUT, 16))
        copies.append(
            f"const OperandCopy<{dtype.cuda}, {str(name == 'transposed').lower()}, {str(aligned).lower()}> {name}{{\n"
            f"      arguments.x, arguments.{name}, {sizes}, {target}, {m * target}}};\n"
            f"  if (blockIdx.x < {name}.blocks()) {name}.copy(blockIdx.x);"
        )
    members = (Argument("x", f"const {dtype.cuda}*"), *(Argument(t.name, f"{dtype.cuda}*") for t in tensors[1:]))
    statements = "\n  ".join(copies)
    source = f"""{cuda_arguments(members)}
struct Problem {{
  static constexpr bool batched = true;
}};
{body}
extern "C" __global__ void __launch_bounds__(128) both(const Arguments arguments) {{
  {statements}
}}
"""
    x = np.random.default_rng(0).integers(1, 2**7, tensors[0].size).astype(dtype.numpy)
    arrays = {"x": x} | {t.name: np.full(t.size, 255, dtype.numpy) for t in tensors[1:]}
    emulator.run(Program(source, members, (Launch("both", (20, 1, 1), (128, 1, 1)),)), tensors, arrays, {}, seed=0)
    stored = tensors[0].view(x)
    for tensor, expected in zip(tensors[1:], (stored, stored.swapaxes(1, 2)), strict=True):
        found = tensor.view(arrays[tensor.name])
        np.testing.assert_array_equal(found[..., : expected.shape[2]], expected)
        assert not found[..., expected.shape[2] :].any()


@pytest.mark.parametrize("problem", [ACROSS, replace(ACROSS, lda=40, stride_a=0, ldb=40, align_a=16, align_b=16)])
def test_both_operands_are_transposed(problem):
    """Rows may begin, and also end, at multiples of 16 bytes."""
    verify(problem, program(problem, replace(BOTH, prepare_a=Prepare.TRANSPOSE, prepare_b=Prepare.TRANSPOSE)))


def test_tensor_copies_read_what_was_prepared():
    words = "BM=64 BN=64 BK=64 consumers=1 stages=2 vector_d=1 prepare_a=copy prepare_b=transpose"
    problem = replace(ACROSS, m=65, n=67, k=75, lda=0, stride_a=75 * 65 + 1, ldb=0, ldd=0, stride_d=0)
    found = program(problem, WgmmaSchedule.parse(words.split()))
    maps = [argument.tensor_map for argument in found.arguments if argument.tensor_map]
    behind = round_up(2 * 2 * 75 * 72, 256)  # the copies of both matrices of A
    assert [(one.tensor, one.offset) for one in maps] == [("workspace", 0), ("workspace", behind)]
    verify(problem, found)


def test_only_rows_that_are_not_prepared_end_within_a_vector():
    apart = replace(ODD, lda=88, align_a=16)
    assert "bool ragged_a = false;" in program(apart).source
    assert "bool ragged_a = true;" in program(apart, replace(BOTH, prepare_a=Prepare.NONE)).source


def test_alpha_of_zero_reads_neither_a_nor_b():
    arrays = {tensor.name: np.full(tensor.size, np.nan, tensor.dtype.numpy) for tensor in ODD.tensors}
    emulator.run(program(ODD), ODD.tensors, arrays, {"alpha": 0.0, "beta": 0.0}, seed=0)
    assert not arrays["d"].any()


def test_the_workspace_has_room_for_both_and_for_the_product():
    bytes_a, bytes_b = round_up(2 * 33 * 88, 256), round_up(2 * 35 * 88, 256)
    split = program(ODD, replace(BOTH, grid_blocks=3))
    assert split.workspace_bytes == bytes_a + bytes_b + 3 * (16 + 8 * 32 * 32)
    assert split.entries == ("prepare", "gemm")
    assert (split.scratch, program(ODD).scratch) == (False, True)  # sums are counted from a launch to the next
    assert split.launches[0].blocks == 2  # one for the 363 units of 16 bytes of A, one for the 385 of B
    assert [one.value for one in split.arguments] == [one.value for one in program(ODD).arguments]


def test_what_a_batch_shares_is_copied_once():
    shared = replace(BOTH, prepare_a=Prepare.NONE, vector_a=1)
    assert program(ACROSS, shared).workspace_bytes == round_up(2 * 83 * 40, 256)
    assert program(replace(ACROSS, stride_b=83 * 35), shared).workspace_bytes == round_up(2 * 2 * 83 * 40, 256)


test_a_violation_has_its_values = illegal(
    OPERATOR,
    {
        ODD: {
            "prepare_b=transpose": "B lies along k, so prepare_b cannot transpose it",
            "prepare_a=copy vector_b=8": "vector_b 8 over the 1 elements that B is aligned for",
        },
        replace(ODD, k=0): {"prepare_a=copy": "there is no product to prepare A for"},
        replace(ODD, n=0): {"prepare_a=copy prepare_b=copy": "there is no product to prepare A and B for"},
        replace(ODD, lda=2**39, ldb=88, align_a=16, align_b=16): {
            "kernel=wgmma BM=64 BN=64 BK=64 consumers=1": f"tensor copies of A take strides below {2**40} bytes"
        },
        replace(LARGE, m=2**19 + 1): {
            "prepare_a=copy": f"operands need a workspace of {2 * (2**19 + 1) * 4104 // 256 * 256 + 256} bytes"
        },
    },
    "mma_sync",
)


def test_unaligned_operands_are_copied_first_where_that_pays():
    def tried(problem):
        default = OPERATOR.default(problem, SPEC)
        return default.prepare_a.value, default.prepare_b.value

    assert tried(LARGE) == ("copy", "none")
    assert tried(replace(LARGE, n=4097, ldb=0, ldd=0)) == ("copy", "copy")
    assert tried(replace(LARGE, k=4096, lda=0)) == ("none", "none")
    assert tried(ODD) == ("none", "none")
    copied = {(seed.kernel, seed.prepare_a) for seed in OPERATOR.seeds(LARGE, SPEC)}
    assert copied == {("mma_sync", Prepare.COPY), ("mma_sync", Prepare.NONE), ("wgmma", Prepare.COPY)}


def test_few_rows_over_many_terms_pay_for_copies_that_wgmma_needs():
    """On an H200, 128×1025×8191 takes 28 µs by wgmma with copies of both operands, and 48 by mma.sync."""
    default = OPERATOR.default(GemmProblem(128, 1025, 8191), SPEC)
    assert (default.kernel, default.prepare_a, default.prepare_b) == ("wgmma", Prepare.COPY, Prepare.COPY)


def test_the_time_model_knows_when_it_pays():
    def seconds(problem, words):
        schedule = MmaSyncSchedule.parse(f"vector_d=1 {words}".split())
        return modelled_seconds(OPERATOR, problem, schedule, SPEC)

    assert seconds(LARGE, "prepare_a=copy") < seconds(LARGE, "vector_a=1")
    few, thin = GemmProblem(16, 64, 65), "BM=16 BN=64 WM=16 WN=16"
    assert seconds(few, f"{thin} prepare_a=copy") > seconds(few, f"{thin} vector_a=1")
    copies, product = OPERATOR.workload(LARGE, MmaSyncSchedule(prepare_a=Prepare.COPY), SPEC)
    assert copies.memory_bytes == 2 * 2 * 4095 * 4097
    assert product.memory_bytes == LARGE.work.bytes
