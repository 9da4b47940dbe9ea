"""map: what it computes, its kernels, schedules and calls; tests/contract runs its cases."""

from dataclasses import replace

import numpy as np
import pytest
from planted import caught
from refusals import illegal, refused
from streaming.map_cases import BF16, FP16, FP32, SPEC

from autotune import emulator
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.model.dtype import DType
from autotune.codegen.streaming.map.arrays import DTYPES
from autotune.codegen.streaming.map.emit import emit
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.codegen.streaming.map.schedule import MapSchedule
from autotune.emulator import verify
from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.streaming.map import OPERATOR

SILU = Activation.SILU


def schedule(words):
    return MapSchedule.parse(words.split())


def run(problem, words, x):
    """The results for an input, of which the first row is taken."""
    arrays = {"x": np.asarray(x, problem.dtype.numpy), "y": np.zeros(problem.tensors[-1].size, problem.result.numpy)}
    emulator.run(OPERATOR.program(problem, schedule(words), SPEC), problem.tensors, arrays, {}, seed=0)
    return arrays["y"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_is_right_everywhere(dtype):
    """Close to 0, where it bends, and where it is all but 0 or its argument."""
    x = np.concatenate([np.linspace(-15, 15, 3000), np.geomspace(1e-30, 6e4, 100), -np.geomspace(1e-30, 6e4, 100)])
    x = x.astype(dtype.numpy)
    expected = Activation.GELU.apply(x.astype(np.float64))
    for function, bound in ((Activation.GELU, 2.0**-23), (Activation.GELU_TANH, 2.0**-22)):
        expected = function.apply(x.astype(np.float64))
        found = run(MapProblem(1, x.size, function, dtype, OutDType.FLOAT32), "vector_width=4", x).astype(np.float64)
        assert np.abs(found - expected).max(where=np.abs(x.astype(np.float64)) < 20, initial=0) <= bound * 16
        error = np.abs(found - expected) - np.abs(expected) * 2.0**-22
        assert error.max() <= bound


@pytest.mark.parametrize("function", [one for one in Activation if not one.exact])
def test_a_gradient_is_right_everywhere(function):
    """Far beyond where functions are all but 0 or their argument, too, as far as floats go."""
    far = np.geomspace(30, 3.4e38, 96), -np.geomspace(30, 3.4e38, 96)
    z = np.concatenate([np.linspace(-20, 20, 4000), *far]).astype(np.float32)
    problem = MapProblem(1, z.size, function, backward=True)
    arrays = {"x": z, "g": np.ones_like(z), "y": np.zeros_like(z)}
    emulator.run(OPERATOR.program(problem, schedule("vector_width=4"), SPEC), problem.tensors, arrays, {}, seed=3)
    with np.errstate(over="ignore"):
        expected = function.gradient(z.astype(np.float64), np.ones(z.size))
        np.testing.assert_allclose(arrays["y"], expected.astype(np.float32), rtol=2.0**-20, atol=2.0**-20)


def test_minus_zero_and_infinities():
    x = np.float32([-0.0, 0.0, np.inf, -np.inf, -1e4, np.nan])
    for function, expected in (
        (Activation.RELU, [0.0, 0.0, np.inf, 0.0, 0.0, np.nan]),
        (Activation.GELU, [-0.0, 0.0, np.inf, np.nan, -0.0, np.nan]),
        (Activation.GELU_TANH, [-0.0, 0.0, np.inf, np.nan, -0.0, np.nan]),
        (Activation.SILU, [-0.0, 0.0, np.inf, np.nan, -0.0, np.nan]),
        (Activation.IDENTITY, x),
    ):
        found = run(MapProblem(1, 6, function), "vector_width=4", x)
        np.testing.assert_array_equal(found, np.float32(expected))
        assert (np.signbit(found) == np.signbit(np.float32(expected)))[~np.isnan(found)].all(), function


def test_a_cube_does_not_overflow_in_16_bits():
    x = np.float16([1000, -1000, 60000, -60000])
    np.testing.assert_array_equal(
        run(MapProblem(1, 4, Activation.GELU_TANH, FP16), "", x), np.float16([1000, 0, 60000, 0])
    )


ROWS = "threads=64 TPR=16 vector_width=8 items=2"
BIASED = MapProblem(19, 133, SILU, BF16, bias=True, ldx=136, ldy=136)
APART = MapProblem(5, 131, SILU, BF16, ldx=135, ldy=134)  # x is not aligned where y is


test_planted_bug_is_caught = caught(
    lambda problem, words: emit(problem, schedule(words)),
    [
        (BIASED, ROWS + " grid_blocks=2", "tile += gridDim.x", "tile += 2 * gridDim.x"),
    ],
)


@pytest.mark.parametrize(
    "problem",
    [
        MapProblem(5, 513, SILU, BF16, gate=Gate.HALVES, ldx=1032, ldy=520),  # only the second halves do
        MapProblem(5, 77, SILU, BF16, gate=Gate.INTERLEAVED, backward=True, ldx=155, ldg=79, ldy=155),
        MapProblem(3, 1001, SILU, BF16, OutDType.FLOAT32, align_x=2, align_y=4),
        MapProblem(5, 133, SILU, FP32, OutDType.BFLOAT16, gate=Gate.SEPARATE, ldx=135, ldu=134, ldy=133),
    ],
    ids=lambda problem: problem.key,
)
def test_rows_that_begin_between_vectors(problem):
    lanes = 64 if problem.collapsed.rows == 1 else 16
    words = f"threads=64 TPR={lanes} vector_width=8 items=2"
    assert schedule(words).skewed(problem)
    verify(problem, emit(problem, schedule(words)), seeds=(1,))


@pytest.mark.parametrize(
    ("problem", "apart"),
    [
        (APART, ["x"]),
        (replace(APART, ldy=143), []),  # as far from aligned vectors as x
        (replace(APART, align_x=2), ["x"]),
        (replace(APART, gate=Gate.HALVES, ldx=270), ["x"]),  # its second halves
        (MapProblem(5, 133, SILU, BF16, gate=Gate.SEPARATE, backward=True, ldx=134, ldu=134, ldg=134, ldy=134), ["y"]),
        (MapProblem(5, 133, SILU, BF16, gate=Gate.INTERLEAVED, ldx=268, ldy=134), []),
    ],
    ids=lambda one: getattr(one, "key", ""),
)
def test_arrays_are_apart_that_are_not_aligned_where_results_are(problem, apart):
    assert problem.apart(8) == apart
    assert problem.apart(1) == []


def test_aligned_rows_of_odd_length_have_no_narrow_accesses():
    """513 columns of bfloat16 without gaps are one row of whole vectors but for its end."""
    problem = MapProblem(8192, 513, SILU, BF16)
    assert not schedule("vector_width=8").skewed(problem)
    assert problem.collapsed.columns == 8192 * 513


def test_indices_are_as_wide_as_sizes_ask_for():
    words = schedule("vector_width=8 threads=256 TPR=256 items=4")
    for elements, index in ((2**31 - 2**16, "int"), (2**31 + 1, "long long")):
        assert f"using Index = {index};" in emit(MapProblem(1, elements, SILU, BF16), words).source
    assert (
        "using Tile = long long;"
        in emit(MapProblem(1, 2**40), replace(words, grid_blocks=99, vector_width=1, items=1)).source
    )


IDENTITY, E4M3 = Activation.IDENTITY, DType.FLOAT8_E4M3


test_a_map_that_cannot_be_is_refused = refused(
    lambda **fields: MapProblem(5, 40, **fields),
    [
        ({"dtype": E4M3}, "dtype=float8_e4m3fn: expected one of float32, bfloat16, float16 where more than a cast"),
        ({"out_dtype": OutDType.INT8}, "out_dtype=int8: expected floating-point numbers where more than a cast"),
        ({"saturate": True}, "saturate: expected results of fewer than 32 bits"),
        ({"backward": True, "residual": True}, "backward: expected no residual, no scale"),
        ({"ldu": 48}, "ldu=48: expected 0, there is no such array"),
        ({"align_g": 4}, "align_g=4: expected 16, there is no such array"),
        ({"ldx": 39}, "ldx=39: expected at least the 40 elements of a row, or 0"),
    ],
)


def test_the_type_of_results_is_stated_once():
    assert MapProblem(5, 40, dtype=BF16, out_dtype=OutDType.BFLOAT16) == MapProblem(5, 40, dtype=BF16)


def test_arrays_without_gaps_are_one_row():
    assert MapProblem(5, 40, gate=Gate.INTERLEAVED).collapsed == MapProblem(1, 200, gate=Gate.INTERLEAVED)
    assert MapProblem(5, 40, gate=Gate.SEPARATE, backward=True).collapsed.rows == 1
    for rows in (
        MapProblem(5, 40, ldy=48),
        MapProblem(5, 40, bias=True),
        MapProblem(5, 40, gate=Gate.HALVES),
    ):
        assert rows.collapsed is rows


test_an_illegal_schedule_says_why = illegal(
    OPERATOR,
    {
        MapProblem(5, 40): {
            "threads=128 TPR=256": "threads_per_row 256 over the 128 threads of a block",
            "threads=256 TPR=64": "threads_per_row 64: expected all 256 threads for one row",
            "vector_width=8": "vector_width 8 over 4, whose elements have 16 bytes",
        },
        MapProblem(5, 40, gate=Gate.SEPARATE): {"vector_width=4 items=16": "items 16: 128 words of a thread over 64"},
    },
)


def test_huge_arrays_are_taken_in_turn():
    problem = MapProblem(1, 2**45, Activation.RELU, FP16)
    assert OPERATOR.default(problem, SPEC).grid_blocks == 8 * SPEC.sm_count
    assert OPERATOR.default(MapProblem(1, 2**31 + 1), SPEC).grid_blocks == 0


@pytest.mark.parametrize("leading", [{"ldy": 257}, {"ldx": 257}])
def test_a_thread_loads_one_vector_of_16_bits_that_is_not_aligned_where_results_are(leading):
    """As measured on an H200: 10009×256 takes 7.2 µs by one vector of a thread, and 8.8 by four."""
    problem = MapProblem(10009, 256, Activation.GELU_TANH, BF16, **leading)
    assert fastest_first(OPERATOR, problem, OPERATOR.seeds(problem, SPEC), SPEC)[0].items == 1


@pytest.mark.parametrize(("dtype", "waits"), [(BF16, True), (FP32, False)])
def test_elements_of_less_than_a_word_are_waited_for_vector_by_vector(dtype, waits):
    problem = MapProblem(10009, 256, dtype=dtype, ldy=257)
    several = MapSchedule(threads=256, threads_per_row=8, vector_width=4, items=4)
    for schedule, more in ((several, waits), (replace(several, items=1), False)):
        (work,) = OPERATOR.workload(problem, schedule, SPEC)
        assert (work.outside_clocks > 0) == more


def test_the_model_ranks_accesses_of_16_bytes_first():
    problem = MapProblem(16384, 8192, Activation.GELU, BF16)
    fastest = fastest_first(OPERATOR, problem, OPERATOR.seeds(problem, SPEC), SPEC)[0]
    assert fastest.vector_width == 8
