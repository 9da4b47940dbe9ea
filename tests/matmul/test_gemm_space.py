"""Which gemm schedules are legal, and which come first."""

from dataclasses import replace
from itertools import islice

import pytest
from matmul.gemm_cases import SPEC
from refusals import illegal, refused

from autotune.codegen.epilogue.gate import PACKED, Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.mma_sync.schedule import MmaSyncSchedule, SharedLayout
from autotune.codegen.matmul.gemm.numbers import DTYPES
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.gemm import OPERATOR
from autotune.search_spaces.matmul.gemm.wgmma.space import on_grid

SQUARE = GemmProblem(4096, 4096, 4096, transpose_b=True)
BLOCKS = {"scales": Scales.BLOCK, "dtype": DType.FLOAT8_E5M2}
INT8, E4M3, E5M2 = DType.INT8, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2
VIOLATIONS = {
    SQUARE: {
        "BM=96 WM=64": "block_m 96 is not a multiple of warp_m 64",
        "BM=128 WM=128": "256 sums of a thread over 128",
        "BK=8": "block_k 8 is not a multiple of the 16 terms of a product of bfloat16",
        "BK=16": "double_buffer_fragments needs a block_k that is a multiple of 32, not 16",
        "WN=16 vector_d=16": "vector_d 16 over half of the 16 columns of a warp",
        "promote=128": "promote 128 is for float8, not for bfloat16: expected 0",
    },
    replace(SQUARE, align_a=8): {"": "vector_a 8 over the 4 elements that A is aligned for"},
    replace(SQUARE, align_d=2): {"": "vector_d 8 over the 1 elements that D is aligned for"},
    replace(SQUARE, gate=Gate.HALVES): {"WN=16": "warp_n 16 under the 32 columns of gates and factors in halves"},
    replace(SQUARE, gate=Gate.INTERLEAVED): {"WN=16": "vector_d 8 over half of the 8 columns of a warp"},
    GemmProblem(64, 72, 64, gate=Gate.HALVES): {"": "vector_b 8 over the 4 elements that B is aligned for"},
    GemmProblem(64, 4096, 64): {
        "BM=64 BN=512 vector_b=1": "256 threads do not divide into rows of 512 vectors of B",
    },
    GemmProblem(64, 64, 64): {"grid_blocks=3": "3 blocks over the 2 steps along k of all tiles"},
    replace(SQUARE, dtype=INT8, align_a=2): {
        "BK=128 vector_a=4": "vector_a 4 over the 1 elements that A is aligned for",
    },
    replace(SQUARE, dtype=INT8): {
        "BK=128 vector_a=2": "vector_a 2 of int8: expected 1 element, or the 4 bytes of a copy",
    },
    replace(SQUARE, dtype=E5M2): {
        "BK=128 promote=256": "promote 256 leaves more than 128 terms to tensor cores, which keep about 14 bits: "
        "expected 128 at most without fast_accumulation",
    },
    replace(SQUARE, dtype=E4M3, fast_accumulation=True): {
        "promote=192 BK=128": "promote 192 is not a multiple of block_k 128",
    },
    replace(SQUARE, dtype=E4M3, scales=Scales.BLOCK): {
        "promote=96 BK=32 double_buffer_fragments=0": "promote 96 does not divide the 128 terms of a scale",
    },
    GemmProblem(2**30, 2**30, 64): {
        "": f"{2**46} tiles and grid_blocks 0 over the {2**31 - 1} blocks of a grid",
    },
    GemmProblem(8, 8, 8, batch=2**31 - 64): {
        "grid_blocks=64": f"{2**31 - 64} tiles and grid_blocks 64 over the {2**31 - 1} blocks of a grid",
    },
    GemmProblem(4096, 4096, 2**20): {
        "grid_blocks=8193": f"a workspace of {8193 * (16 + 8 * 128 * 128)} bytes over {2**30}",
    },
}


test_a_violation_has_its_values = illegal(OPERATOR, VIOLATIONS, "mma_sync")


@pytest.mark.parametrize("gate", PACKED)
def test_draws_fit_gated_pairs(gate):
    problem = replace(SQUARE, gate=gate, preactivation=True)
    space = OPERATOR.space(problem, SPEC)
    drawn = [space.build(draw) for draw in islice(space.random_draws(1), 60)]
    assert [OPERATOR.violations(problem, schedule, SPEC) for schedule in drawn] == [[]] * 60


def test_shared_memory_holds_stages_or_sums():
    schedule = MmaSyncSchedule.parse(["BM=128", "BN=256", "BK=64", "stages=4"])
    assert schedule.shared_bytes(SQUARE) == 4 * (128 + 256) * 64 * 2
    padded = replace(schedule, shared_layout=SharedLayout.PADDED)
    assert padded.shared_bytes(SQUARE) == 4 * (128 + 256) * (64 * 2 + 16)
    few = MmaSyncSchedule.parse(["BM=64", "BN=64", "BK=16", "WM=16", "WN=16", "stages=2"])
    assert few.shared_bytes(SQUARE) == 16 * 16 * (16 + 8) * 4


def test_large_tiles_come_first_where_they_fill_the_device():
    few, spec = GemmProblem(16, 4096, 8192, transpose_b=True), named_device("a100")
    for device, columns in ((SPEC, 256), (spec, 128)):  # by wgmma and by mma_sync
        default = OPERATOR.default(SQUARE, device)
        assert (default.block_m, default.block_n) == (128, columns)
    default = OPERATOR.default(few, spec)
    assert (default.block_m, default.block_n) == (16, 64)


@pytest.mark.parametrize("name", ["t4", "a100", "rtx4090", "h200", "b200"])
def test_a_square_is_modelled_below_the_peak(name):
    spec, problem = named_device(name), replace(SQUARE, dtype=DType.FLOAT16)
    seconds = modelled_seconds(OPERATOR, problem, OPERATOR.default(problem, spec), spec)
    least = problem.work.operations[problem.unit] / spec.peak(problem.unit)
    assert least < seconds < 4 * least


def test_shared_matrices_are_read_once():
    problem = GemmProblem(8, 16, 32, batch=3)
    own = replace(problem, stride_a=256, stride_b=512)
    assert own.work.bytes - problem.work.bytes == 2 * 2 * (8 * 32 + 16 * 32)


test_a_problem_that_cannot_be = refused(
    lambda **fields: GemmProblem(**{"m": 64, "n": 64, "k": 64} | fields),
    [
        ({"mixed": True}, "mixed=True: expected a dtype of float8_e4m3fn or float8_e5m2, not bfloat16"),
        ({"fast_accumulation": True}, "fast_accumulation=True: expected a dtype of float8_e4m3fn or float8_e5m2"),
        ({"scales": Scales.TENSOR}, "scales=tensor_scales: expected none of bfloat16"),
        ({"scales": Scales.BLOCK, "dtype": INT8}, "scales=block_scales: expected none or tensor_scales or row_sc"),
        ({"scales": Scales.ROW, "dtype": INT8, "batch": 2}, "batch=2: expected 1 with row_scales"),
        (BLOCKS | {"fast_accumulation": True}, "fast_accumulation=True: block_scales are added up in FP32, block by"),
        (BLOCKS | {"gate": Gate.HALVES}, "gate=halves: expected interleaved with block_scales"),
        ({"dtype": INT8, "k": 2**17}, "k=131072: expected at most 131071 terms of int8, whose sums are int32"),
        ({"out_dtype": OutDType.INT32}, "out_dtype=int32: expected int8 without scales and without an epilogue"),
        ({"dtype": INT8, "out_dtype": OutDType.INT32, "residual": True}, "expected int8 without"),
    ],
)


def test_stages_have_as_many_bytes_for_all_types():
    for dtype in DTYPES:
        problem = replace(SQUARE, dtype=dtype)
        assert OPERATOR.default(problem, SPEC).block_k * dtype.bytes == 128
        (drawn,) = (one for one in OPERATOR.space(problem, SPEC).parameters if one.name == "block_k")
        assert [int(value) * dtype.bytes for value in drawn.values] == [32, 64, 128, 256]


def test_float8_is_promoted_unless_fast_sums_will_do():
    exact = replace(SQUARE, dtype=DType.FLOAT8_E4M3)
    assert OPERATOR.default(exact, SPEC).promote == 128
    assert OPERATOR.default(replace(exact, fast_accumulation=True), SPEC).promote == 0


def test_gemv_serves_16_bits_and_floats():
    assert OPERATOR.restated is not None
    for dtype in DTYPES:
        assert (OPERATOR.restated(GemmProblem(4, 64, 64, dtype=dtype)) is not None) == (dtype.bits >= 16)


@pytest.mark.parametrize(("m", "k", "most"), [(4096, 4096, 1), (256, 5120, 4), (64, 5120, 8), (64, 512, 2)])
def test_blocks_share_k_where_tiles_leave_sms_idle(m, k, most):
    (parameter,) = (one for one in OPERATOR.space(GemmProblem(m, 5120, k), SPEC).parameters if one.name == "cluster_k")
    assert parameter.values[-1] == most


@pytest.mark.parametrize(("n", "sharers"), [(2304, 4), (4096, 1)])
def test_tiles_beyond_whole_waves_are_shared_where_they_are_few(n, sharers):
    tile = WgmmaSchedule.parse(["BM=128", "BN=256", "BK=64", "vector_d=2"])
    shared = on_grid(GemmProblem(n, n, 4096, transpose_b=True), SPEC, tile, "shared·1")
    assert (shared.grid_blocks, shared.whole_tiles) == (132, sharers == 1)
    assert shared.sharers(GemmProblem(n, n, 4096)) == sharers


@pytest.mark.parametrize(("k", "block_k"), [(1, 16), (5, 16), (17, 32), (33, 64), (4097, 64)])
def test_steps_by_mma_sync_are_no_longer_than_short_products(k, block_k):
    seeds = OPERATOR.seeds(GemmProblem(1025, 4097, k, transpose_a=True), SPEC)
    assert max(seed.block_k for seed in seeds if seed.kernel == "mma_sync") == block_k
