"""pack: what its cases cover, what the rule of codes promises, and bugs planted in its kernels."""

import numpy as np
import pytest
from matmul.pack_cases import BF16, FP8, FP16, FP32, INT8, SPEC
from planted import check_caught

from autotune.codegen.matmul.gemv.weights import SCALE_DTYPES, Weights
from autotune.codegen.matmul.pack.problem import FORMATS, PackProblem
from autotune.codegen.matmul.pack.quantise import quantised, steps_of
from autotune.codegen.matmul.pack.schedule import PackSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.search_spaces.matmul.pack import OPERATOR

INT4 = Weights.INT4


@pytest.mark.parametrize(
    ("weights", "group_size", "zeros"),
    [(INT4, 32, False), (INT4, 64, True), (INT8, 0, False), (INT8, 128, False), (FP8, 0, False), (FP8, 128, False)],
)
@pytest.mark.parametrize("scale_dtype", SCALE_DTYPES)
def test_weights_are_met_within_half_a_step(weights: Weights, group_size: int, zeros: bool, scale_dtype: DType) -> None:
    """Beyond that only by the rounding of the scale: the largest weight may lie so far beyond the last code."""
    w = np.random.default_rng(0).standard_normal((140, 201)).astype(np.float32)
    found = quantised(w, weights, group_size, scale_dtype, zeros=zeros)
    met = weights.dequantised(found.codes, found.scales, found.zeros if zeros else None, 201, group_size)
    rows, columns = weights.scale_rows(group_size), group_size or 201
    scales = found.scales.astype(np.float64).repeat(rows, 0)[:140].repeat(columns, 1)[:, :201]
    step = np.maximum(scales, np.abs(w) / 8) if weights is FP8 else scales
    beyond = steps_of(weights, zeros=zeros) * scale_dtype.roundoff * (2 if zeros else 1)
    assert (np.abs(met - w) <= (0.5 + beyond) * step * (1 + 1e-6)).all()


def test_codes_of_a_group_by_hand() -> None:
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
def test_a_group_that_is_not_finite_has_the_scale_nan(weights: Weights) -> None:
    w = np.ones((3, 200), np.float32)
    w[0, 5], w[1, 7], w[2] = np.nan, -np.inf, 0
    found = quantised(w, weights, 0 if weights is not INT4 else 128, FP16, zeros=False)
    assert np.isnan(found.scales[:2, 0].astype(np.float32)).all()
    assert found.scales[2].astype(np.float32).tolist() == [0] * found.scales.shape[1]


class Hard(PackProblem):
    """With rows that are not finite, or whose scales are beyond the largest float16 or have no finite inverse."""

    def inputs(self, seed: int) -> dict[str, Array]:
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
def test_planted_bug_is_caught(bug: str) -> None:
    problem, words, right, planted = BUGS[bug]
    program = OPERATOR.program(problem, PackSchedule.parse(words.split()), SPEC)
    check_caught(problem, program, right, planted, seeds=(0,))
