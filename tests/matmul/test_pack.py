"""pack: the rule of its codes, its kernels, schedules and calls, and that gemv takes what it writes."""

import ml_dtypes
import numpy as np
import pytest
from matmul.pack_cases import BF16, FP8, FP16, FP32, INT8, SPEC
from planted import check_caught
from refusals import illegal, refused

from autotune import dispatcher
from autotune.codegen.matmul.gemv.weights import SCALE_DTYPES, Weights
from autotune.codegen.matmul.pack.problem import FORMATS, PackProblem
from autotune.codegen.matmul.pack.quantise import quantised, steps_of
from autotune.codegen.matmul.pack.schedule import PackSchedule
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.matmul.pack import OPERATOR

W = np.random.default_rng(0).standard_normal((140, 96)).astype(np.float32)


@pytest.mark.parametrize(
    ("format", "group_size", "zeros"),
    [("int4", 32, False), ("int4", 64, True), ("int8", 0, False), ("fp8", 128, False)],
)
def test_gemv_takes_what_pack_writes(format, group_size, zeros):
    points = np.zeros((140, -(-96 // group_size)), np.uint8) if zeros else None
    codes, scales = dispatcher.pack(W, format, group_size, scale_dtype=BF16, zeros=points)
    x = np.random.default_rng(1).standard_normal((2, 96)).astype(np.float32)
    y = dispatcher.gemv(x, codes, scales=scales, zeros=points, group_size=group_size)
    step = {"int4": 1 / 7, "int8": 1 / 127, "fp8": 1 / 16}[format] * np.abs(W).max()
    np.testing.assert_allclose(y, x @ W.T, atol=step * np.sqrt(96) * 3)
    assert np.abs(y - x @ W.T).max() > 0


def test_a_batch_is_packed_as_its_matrices_are():
    batch = W[:132].reshape(3, 44, 96)
    codes, scales = dispatcher.pack(batch, "int8", 32)
    assert (codes.shape, scales.shape, scales.dtype) == ((3, 44, 96), (3, 44, 3), np.float32)
    one, own = dispatcher.pack(batch[1], "int8", 32)
    np.testing.assert_array_equal(codes[1], one)
    np.testing.assert_array_equal(scales[1], own)


def test_codes_may_have_gaps_between_rows():
    """So that rows of any length are aligned for gemv's widest loads."""
    wide = np.full((140, 48), 7, np.uint8)
    scales = np.empty((140, 1), ml_dtypes.bfloat16)
    found, _ = dispatcher.pack(W[:, :75], "int4", codes=wide[:, :38], scales=scales, scale_dtype=BF16)
    expected, _ = dispatcher.pack(np.ascontiguousarray(W[:, :75]), "int4", scale_dtype=BF16)
    np.testing.assert_array_equal(found, expected)
    assert (wide[:, 38:] == 7).all()


test_calls_say_what_they_refuse = refused(
    lambda **arguments: dispatcher.pack(**{"weight": W, **arguments}),
    [
        ({"weight": W.astype(np.int8)}, "TypeError: weight has dtype int8: pack takes float32, bfloat16, float16"),
        ({"weight": W[0]}, "weight has shape (96,): expected (…, n, k)"),
        ({"weight": W.T}, "weight has shape (96, 140) and strides (1, 96): expected contiguous rows"),
        ({"format": "int2"}, "format='int2': expected one of int4, int8, fp8"),
        ({"group_size": 0}, "group_size=0: expected 32 or 64 or 128 for format=int4"),
        ({"format": "fp8", "group_size": 64}, "group_size=64: expected 0 or 128 for format=fp8"),
        (
            {"scale_dtype": DType.INT8},
            "TypeError: scale_dtype=int8: expected float32, bfloat16, float16, or None for that of",
        ),
        ({"format": "int8", "zeros": np.zeros((140, 1), np.uint8)}, "format=int8: expected no zeros"),
        (
            {"format": "fp8", "weight": np.stack((W, W))},
            "weight has shape (2, 140, 96): expected rows of a matrix in blocks of 128",
        ),
        (
            {"group_size": 64, "scales": np.zeros((2, 140), np.float32).T},
            "scales has shape (140, 2) and strides (1, 140)",
        ),
    ],
)


test_violations_carry_the_values = illegal(
    OPERATOR,
    {
        PackProblem(4, 64): {
            "vector_width=1": "vector_width 1: expected 2 or more, the codes of a byte",
            "threads=128 TPG=256": "threads_per_group 256 over the 128 threads of a block",
        },
        PackProblem(4, 64, ldw=68): {"vector_width=8": "vector_width 8 over the 4 elements that W is aligned for"},
        PackProblem(4, 4096): {
            "TPG=1 vector_width=8 loads_in_flight=16 groups_per_thread=2": "128 registers of a thread's vectors over 64"
        },
    },
)


test_problems_that_cannot_be_are_refused = refused(
    lambda **fields: PackProblem(**{"n": 4, "k": 64, **fields}),
    [
        ({"weights": INT8, "zeros": True}, "zeros=True: expected weights=int4, not int8"),
        ({"group_size": 0}, "group_size=0: expected 32 or 64 or 128 for weights=int4"),
        ({"n": 2**30, "k": 2**10}, "n=1073741824, k=1024: 8589934592 groups, expected 2147483647 at most"),
    ],
)


def test_workload_counts_what_moves():
    problem = PackProblem(4096, 4096, dtype=FP32, zeros=True)
    for words in ("TPG=32 vector_width=4", "TPG=1 vector_width=4 loads_in_flight=4"):
        (counted,) = OPERATOR.workload(problem, PackSchedule.parse(words.split()), SPEC)
        reads = 1 if "TPG=32" in words else 2
        assert counted.blocks * counted.steps * counted.bytes_loaded == reads * 4096 * 4096 * 4


INT4 = Weights.INT4


@pytest.mark.parametrize(
    ("weights", "group_size", "zeros"),
    [(INT4, 32, False), (INT4, 64, True), (INT8, 0, False), (INT8, 128, False), (FP8, 0, False), (FP8, 128, False)],
)
@pytest.mark.parametrize("scale_dtype", SCALE_DTYPES)
def test_weights_are_met_within_half_a_step(weights, group_size, zeros, scale_dtype):
    """Beyond that only by the rounding of the scale: the largest weight may lie so far beyond the last code."""
    w = np.random.default_rng(0).standard_normal((140, 201)).astype(np.float32)
    found = quantised(w, weights, group_size, scale_dtype, zeros=zeros)
    met = weights.dequantised(found.codes, found.scales, found.zeros if zeros else None, 201, group_size)
    rows, columns = weights.scale_rows(group_size), group_size or 201
    scales = found.scales.astype(np.float64).repeat(rows, 0)[:140].repeat(columns, 1)[:, :201]
    step = np.maximum(scales, np.abs(w) / 8) if weights is FP8 else scales
    beyond = steps_of(weights, zeros=zeros) * scale_dtype.roundoff * (2 if zeros else 1)
    assert (np.abs(met - w) <= (0.5 + beyond) * step * (1 + 1e-6)).all()


def test_codes_of_a_group_by_hand():
    """Ties go to even codes; a range of 15 has the scale 1, and 0 a code of its own."""
    w = np.zeros((3, 33), np.float32)
    w[0, :6] = 7, -7, 0.5, 1.5, -0.5, 3
    w[1, :4] = 8, -7, 2.5, 3.5
    w[2, 32] = 14
    symmetric = quantised(w[:1], INT4, 32, FP32, zeros=False)
    assert symmetric.scales.tolist() == [[1, 0]]
    assert symmetric.codes[0, :4].tolist() == [15 | 1 << 4, 8 | 10 << 4, 8 | 11 << 4, 8 | 8 << 4]
    assert symmetric.codes[0, -1] == 8  # with nothing in the upper half
    ranged = quantised(w[1:], INT4, 32, BF16, zeros=True)
    assert ranged.scales.astype(np.float32)[0].tolist() == [1, 0]
    assert ranged.zeros.tolist() == [[7, 0], [0, 0]]
    assert ranged.codes[0, :2].tolist() == [15 | 0 << 4, 9 | 11 << 4]  # 2.5 + 7 and 3.5 + 7
    assert ranged.codes[1, -1] == 15


@pytest.mark.parametrize("weights", FORMATS)
def test_a_group_that_is_not_finite_has_the_scale_nan(weights):
    w = np.ones((3, 200), np.float32)
    w[0, 5], w[1, 7], w[2] = np.nan, -np.inf, 0
    found = quantised(w, weights, 0 if weights is not INT4 else 128, FP16, zeros=False)
    assert np.isnan(found.scales[:2, 0].astype(np.float32)).all()
    assert found.scales[2].astype(np.float32).tolist() == [0] * found.scales.shape[1]


class Hard(PackProblem):
    """With rows that are not finite, or whose scales are beyond the largest float16 or have no finite inverse."""

    def inputs(self, seed):
        found = super().inputs(seed)
        rows = self.tensors[0].view(found["w"])
        rows[0, 3], rows[1, 40], rows[2, 2], rows[3] = np.nan, np.inf, -np.inf, 3e9 * rows[3]
        rows[4] *= 1e-39
        return found


HELD = "threads=128 TPG=16 vector_width=4 loads_in_flight=8 groups_per_thread=2"
AGAIN = "TPG=2 vector_width=2 loads_in_flight=2 groups_per_thread=2"
GROUPS, ROWS = PackProblem(20, 300, zeros=True), Hard(24, 508, FP32, INT8, 0, FP16)
SMALL = Hard(8, 64, FP32, INT8, 0, FP32)

BUGS = {
    "a range does not have 0 in it": (GROUPS, HELD, "Range ranges[items] = {};", "Range ranges[items] = {{9, -9}};"),
    "a scale beyond the largest number is an infinity": (
        ROWS,
        AGAIN,
        "from_float_saturated<Scale>(exact)",
        "from_float<Scale>(exact)",
    ),
    "NaN becomes the largest code": (
        ROWS,
        HELD,
        "fminf(fmaxf(__fadd_rn(__fmul_rn(a, b), aligner), aligner + least), aligner + most)",
        "fmaxf(fminf(__fadd_rn(__fmul_rn(a, b), aligner), aligner + most), aligner + least)",
    ),
    "a denormal scale has no inverse": (SMALL, HELD, "fminf(1.0f / rounded, largest_float)", "1.0f / rounded"),
    "groups that are not finite keep a scale": (ROWS, HELD, "if (!(spread <= largest_float))", "if (spread < 0.0f)"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug):
    problem, words, right, planted = BUGS[bug]
    program = OPERATOR.program(problem, PackSchedule.parse(words.split()), SPEC)
    check_caught(problem, program, right, planted, seeds=(0,))
