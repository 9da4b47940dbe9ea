"""What gemm's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from dataclasses import replace

import numpy as np
import pytest
from matmul.gemm_cases import E4M3, FP16, FP32, INT8, SPEC, TF32, check_each_step_counts_once, of_steps, scheduled
from planted import caught, check_caught

from autotune import emulator
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.presets import PRESETS
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.dtype import DType
from autotune.emulator import verify
from autotune.search_spaces.matmul.gemm import OPERATOR
from autotune.verification import launch_arrays

GATED = GemmProblem(20, 48, 40, gate=Gate.HALVES, preactivation=True, dtype=FP16)
SMALL = "BM=32 BN=32 BK=32 WM=16 WN=16"


def program(problem, words):
    return OPERATOR.program(problem, scheduled(words), SPEC)


STEPS = [("nn", FP16), ("nt", FP16), ("tn", FP16), ("tt", FP16), ("nt", E4M3), ("tn", INT8), ("tn", TF32)]


@pytest.mark.parametrize(("layout", "dtype"), STEPS)
def test_each_step_along_k_counts_once(layout, dtype):
    problem = of_steps(layout, dtype, 72, 40, ldb=80)
    widths = " ".join(f"vector_{operand}={min(8, problem.vector_width(operand))}" for operand in "abd")
    words = f"{SMALL} BK=64 promote={64 if dtype is E4M3 else 0} {widths}".replace("BK=32 ", "")
    check_each_step_counts_once(problem, scheduled(words))


def test_floats_are_rounded():
    problem = GemmProblem(32, 32, 32, dtype=TF32)
    for x, y in ((1 + 2.0**-11, 1), (1, 1 + 2.0**-11)):
        arrays = {t.name: np.full(t.size, v, np.float32) for t, v in zip(problem.tensors, (x, y, 0), strict=True)}
        emulator.run(program(problem, SINGLE_FLOATS), problem.tensors, arrays, {"alpha": 1.0, "beta": 0.0}, seed=0)
        np.testing.assert_array_equal(arrays["d"], 32 * (1 + 2.0**-10))


@pytest.mark.parametrize(
    ("dtype", "capability", "right", "wrong"),
    [
        (DType.BFLOAT16, (7, 5), "first_of<Number>(column), sums[i])", "second_of<Number>(column), sums[i])"),
        (FP16, (7, 5), "add_product_of_8(d, second, b[1])", "add_product_of_8(d, first, b[1])"),
        (TF32, (7, 5), "rows[i / 2], columns[i % 2]", "rows[i % 2], columns[i / 2]"),
        (INT8, (7, 5), "add_quarter_of_int8<2>(d, a[2 * half + 1]", "add_quarter_of_int8<2>(d, a[2 * half]"),
        (E4M3, (8, 0), "of_a[i] = float16_pair_of(a[2 * half + i % 2]", "of_a[i] = float16_pair_of(a[i % 2]"),
    ],
)
def test_what_tensor_cores_lack_is_multiplied_as_the_device_does(dtype, capability, right, wrong):
    problem = GemmProblem(33, 24, 72, transpose_b=True, dtype=dtype, out_dtype=FP32, ldb=80, lda=80)
    words = f"{SMALL} BK=64 vector_a=4 vector_b=4 vector_d=4 promote={64 if dtype is E4M3 else 0}".replace("BK=32 ", "")
    check_caught(problem, program(problem, words), right, wrong, compute_capability=capability)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_gate_pairs(preset):
    verify(GATED, PRESETS[preset](GATED))


def test_wmma_scales_blocks_of_pairs():
    problem = GemmProblem(16, 272, 144, transpose_b=True, dtype=E4M3, gate=Gate.INTERLEAVED, scales=Scales.BLOCK)
    verify(problem, PRESETS["wmma"](problem))


def test_an_infinite_alpha_of_no_products_counts_for_nothing():
    problem = GemmProblem(5, 8, 0, bias=Bias.ROW)
    arrays, chosen = launch_arrays(problem, 0), OPERATOR.program(problem, OPERATOR.default(problem, SPEC), SPEC)
    emulator.run(chosen, problem.tensors, arrays, {"alpha": np.inf, "beta": 0.0}, seed=0)
    np.testing.assert_array_equal(arrays["d"].reshape(5, 8), np.broadcast_to(arrays["bias"], (5, 8)))


@pytest.mark.parametrize("alpha", [0.0, -2.0])
@pytest.mark.parametrize("words", [SMALL, "kernel=wgmma BM=64 BN=32 BK=64 consumers=1 stages=2 vector_d=2"])
def test_nothing_counts_that_is_multiplied_by_zero(words, alpha):
    """What mma.sync would multiply is not read at all; wgmma has read it by then."""
    problem = GemmProblem(16, 24, 32, residual=True, bias=Bias.ROW)
    d = problem.tensors[-1]
    ones = {tensor.name: np.ones(tensor.size, tensor.dtype.numpy) for tensor in problem.tensors}
    unread = ("a", "c") if alpha == 0 else ("c",)
    arrays = ones | {name: np.full_like(ones[name], np.nan) for name in unread}
    emulator.run(program(problem, words), problem.tensors, arrays, {"alpha": alpha, "beta": 0.0}, seed=0)
    np.testing.assert_array_equal(d.view(arrays["d"]).astype(np.float32), 1 + 32 * alpha)


@pytest.mark.parametrize(("alpha", "expected"), [(0.5, 18), (2.0**30, 2**31 - 1), (-(2.0**30), -(2**31)), (0.0, 0)])
def test_integers_are_rounded_and_kept_within_their_type(alpha, expected):
    """Ties go to even: 37 / 2 is 18."""
    problem = GemmProblem(16, 16, 37, transpose_b=True, dtype=INT8, out_dtype=OutDType.INT32, lda=48, ldb=48)
    arrays = {tensor.name: np.ones(tensor.size, tensor.dtype.numpy) for tensor in problem.tensors}
    words = f"{SINGLE_BYTES} vector_d=4"
    emulator.run(program(problem, words), problem.tensors, arrays, {"alpha": alpha, "beta": 0.0}, seed=0)
    np.testing.assert_array_equal(problem.tensors[-1].view(arrays["d"]), expected)


SINGLE = f"{SMALL} stages=3 double_buffer_fragments=0"
SINGLE_FLOATS = f"{SINGLE} vector_a=4 vector_b=4 vector_d=4"
SINGLE_BYTES = SINGLE.replace("BK=32", "BK=64")
BLOCKS = GemmProblem(33, 144, 192, transpose_b=True, dtype=E4M3, scales=Scales.BLOCK)
HALVES = GemmProblem(33, 80, 40, transpose_b=True, gate=Gate.HALVES, preactivation=True, bias=Bias.ROW)
PAIRS = GemmProblem(33, 76, 40, transpose_b=True, gate=Gate.INTERLEAVED, preactivation=True, ldd=40)
WIDE = "BM=32 BN=64 BK=32 WM=16 WN=32 vector_d=4"


test_a_planted_bug_is_detected = caught(
    program,
    [
        # what is behind the gates for factors
        (HALVES, WIDE, "behind ? source + jump_ : source", "source"),
        # a gate's bias for its factor's
        (HALVES, WIDE, "product_column(problem, n, part)])", "n])"),
        # columns of the second output behind the last
        (PAIRS, WIDE, "column, vector, left)", "column, vector, width)"),
        # floats across k of other terms
        (GemmProblem(32, 32, 40, True, True, dtype=TF32), SINGLE_FLOATS, "(of_columns ? i % 2 : i / 2) * 4 + lane % 4",
         "(of_columns ? i % 2 : i / 2) * 4 + (lane + 1) % 4"),
        # columns of bytes across k as they are not
        (GemmProblem(32, 32, 64, dtype=INT8), SINGLE_BYTES, "if constexpr (TileB::interleaved)",
         "if constexpr (false)"),
        # blocks of terms are counted from the first tile of a work unit
        (replace(BLOCKS, k=448, lda=0, ldb=0, stride_a=0, stride_b=0),
         f"{SINGLE} vector_a=16 vector_b=16 promote=128 grid_blocks=7", "(first + tile + 1) % promoted_tiles",
         "(tile + 1) % promoted_tiles"),
    ],
)  # fmt: skip
