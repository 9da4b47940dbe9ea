"""What is peculiar to the kernels of norms and of their gradients; tests/contract runs all cases."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from planted import caught, check_caught
from refusals import illegal

from autotune import emulator
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.norm.problem import LayerNormProblem, RmsNormProblem
from autotune.codegen.rows.norm_backward.emit import emit
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.norm_backward.schedule import NormBackwardSchedule
from autotune.compiler import compile_kernel
from autotune.contract.checker import check_reference_kernel
from autotune.emulator import EmulatorError, verify
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.rows.norm_backward import OPERATOR
from autotune.verification import launch_arrays

SPEC = named_device("h200")
BF16 = DType.BFLOAT16


def program(problem, words):
    name = {RmsNormProblem: "rms_norm", LayerNormProblem: "layer_norm", NormBackwardProblem: "norm_backward"}
    chosen = operator(name[type(problem)])
    return chosen.program(problem, chosen.kernels[0].schedule_type.parse(words.split()), SPEC)


REGISTERS = "threads=128 TPR=64 vector_width=2"
RELOAD = "threads=64 TPR=32 vector_width=2 hold=reload loads_in_flight=2"
LAYER = LayerNormProblem(9, 333, ldx=334, ldy=336, statistics=True)
SUM = replace(LAYER, residual=True, align_x=8)


INT8, FLOAT8 = LayerNormProblem(19, 70, BF16, int8=True), RmsNormProblem(19, 70, BF16, float8=True)


def test_a_row_of_zeros_has_no_scale():
    kernel = program(FLOAT8, "threads=128 TPR=64 vector_width=2")
    check_caught(FLOAT8, kernel, "largest == 0.0f ? 0.0f : ", "")


@pytest.mark.parametrize("problem", [INT8, FLOAT8], ids=["int8", "float8"])
def test_the_reference_of_quantised_results_is_right(problem):
    name = "layer_norm" if problem.centered else "rms_norm"
    check_reference_kernel(operator(name), problem, partial(emulator.run, seed=0))


# Rows that are written at another distance from aligned vectors than they are read at, the last block's not all there.
APART = RmsNormProblem(5, 301, BF16, ldx=303, ldy=302)
LANES = "threads=128 TPR=32 vector_width=8"
test_planted_bug_in_exchanged_stores_is_caught = caught(
    program,
    [
        (APART, LANES, "lane > 0 ? 0 : ahead", "0"),
        (APART, LANES, "bytes / 4 & distance", "bytes / 2 & distance"),
        (APART, LANES, "32 - bytes % 4 * 8", "32"),
        (APART, LANES, "i >= width - ahead && ", "i > width - ahead && "),
        (APART, LANES, "constexpr int none = -Schedule::vector_width", "constexpr int none = 0"),
    ],
)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (APART, "threads=64 TPR=4 vector_width=8"),
        (APART, "threads=64 TPR=64 vector_width=2 hold=shared"),
        (replace(APART, residual=True), LANES),
        (replace(APART, int8=True), LANES),
        (LayerNormProblem(5, 300, BF16, ldy=301), "threads=128 TPR=64 vector_width=4"),
    ],
    ids=lambda one: getattr(one, "key", one),
)
def test_lanes_exchange_what_is_not_aligned_where_it_is_written(problem, words):
    kernel = program(problem, words)
    assert "__shfl_up_sync(0xffffffffu, word, 1" in kernel.source
    verify(problem, kernel, seeds=(1,))


BACKWARD = NormBackwardProblem(37, 70, ldx=72)
SHORT = "threads=64 TPR=16 vector_width=2 grid=3"
RING = f"{SHORT} hold=shared ahead=2"


test_planted_bug_in_gradients_is_caught = caught(
    program,
    [
        (BACKWARD, RING, "turns.source(Schedule::rows_ahead)", "turns.source(1)"),
    ],
)


def far_from_zero(kernel, problem):
    """The largest error of rows whose mean is a million times their standard deviation, which is 1 in y."""
    arrays = launch_arrays(problem, 0)
    x = np.random.default_rng(0).standard_normal((problem.rows, problem.columns)) * 0.01 + 1e4
    arrays["x"] = x.astype(np.float32).reshape(-1)
    arrays["weight"][:], arrays["bias"][:] = 1, 0
    expected = problem.reference(arrays, {"eps": 0.0, "weight_offset": 0.0})["y"]
    emulator.run(kernel, problem.tensors, arrays, {"eps": 0.0, "weight_offset": 0.0}, seed=0)
    return float(np.max(np.abs(arrays["y"] - expected)))


@pytest.mark.parametrize(
    "words", [f"{REGISTERS} passes=two", f"{RELOAD} passes=welford", f"{REGISTERS} passes=shifted"]
)
def test_a_large_mean_costs_no_digit(words):
    problem = LayerNormProblem(4, 512)
    kernel = program(problem, words)
    assert far_from_zero(kernel, problem) < 2e-6
    source = kernel.source.replace("x[i] -= origin;", ";").replace("origin + ", "")
    assert not far_from_zero(replace(kernel, source=source), problem) < 1e-3  # which may be NaN


def test_one_pass_over_rows_that_begin_with_an_outlier():
    """What is far from all others may be the first element, but not the mean of each thread's first vector."""
    problem = LayerNormProblem(4, 2048, statistics=True)
    kernel = program(problem, "threads=128 TPR=128 vector_width=4 passes=shifted")
    arrays, scalars = launch_arrays(problem, 0), {"eps": 0.0, "weight_offset": 0.0}
    x = np.random.default_rng(0).standard_normal((problem.rows, problem.columns), np.float32)
    x[:, 0] = (1e4, -1e4, 300, 1e3)
    arrays["x"] = x.reshape(-1)
    expected = problem.reference(arrays, scalars)["rstd"]
    from_first = replace(kernel, source=kernel.source.replace("if (offset == 0) own =", "if (offset < 0) own ="))
    for one, right in ((kernel, True), (from_first, False)):
        emulator.run(one, problem.tensors, arrays, scalars, seed=0)
        assert np.allclose(arrays["rstd"], expected, rtol=4e-6, atol=0) == right


@pytest.mark.parametrize("begin", [0, 1, 3])
@pytest.mark.parametrize("far", [300.0, 1e4, -77.7])
def test_one_pass_over_threads_that_begin_with_outliers(far, begin):
    """Errors are within the tolerance for as many vectors of a thread as are legal."""
    problem = LayerNormProblem(2, 8192, statistics=True)
    kernel = program(problem, "threads=128 TPR=128 vector_width=4 passes=shifted")
    arrays, scalars = launch_arrays(problem, 0), {"eps": 0.0, "weight_offset": 0.0}
    x = np.random.default_rng(0).normal(30, 0.01, (problem.rows, problem.columns))
    x[:, begin:4] = far
    arrays["x"] = x.astype(np.float32).reshape(-1)
    expected = problem.reference(arrays, scalars)
    emulator.run(kernel, problem.tensors, arrays, scalars, seed=0)
    for name in ("y", "mean", "rstd"):
        error = np.abs(arrays[name] - expected[name])
        assert np.all(error <= DType.FLOAT32.roundoff * expected[f"{name}_scale"]), name


def test_a_mean_of_squares_less_a_squared_mean_is_wrong():
    kernel = program(LAYER, REGISTERS)
    source = kernel.source.replace("(value - mean) * (value - mean)", "value * value")
    source = source.replace("squares.sum, Sum()) / elements;", "squares.sum, Sum()) / elements - mean * mean;")
    source = source.replace("x[i] -= origin;", ";").replace("origin + statistics.mean", "mean")
    assert source.count("value * value") == 1
    with pytest.raises(EmulatorError, match="wrong"):
        verify(LAYER, replace(kernel, source=source))


def test_weights_are_offset():
    problem = RmsNormProblem(4, 40, BF16, float32_weight=True)
    arrays = launch_arrays(problem, 0)
    scalars = {"eps": 0.5, "weight_offset": 1.0}
    expected = problem.reference(arrays, scalars)
    emulator.run(program(problem, "threads=32 TPR=8 vector_width=8"), problem.tensors, arrays, scalars, seed=0)
    np.testing.assert_allclose(arrays["y"].astype(np.float64), expected["y"], rtol=2.0**-7, atol=1e-6)


def test_sums_of_several_rounds():
    verify(BACKWARD, program(BACKWARD, "threads=64 TPR=16 vector_width=2 grid=2"))


test_illegal_gradients_say_why = illegal(
    operator("norm_backward"),
    {
        NormBackwardProblem(4, 70, align_x=8): {
            "vector_width=4": "vector_width 4 over the 2 elements that rows are aligned for",
            "hold=reload": "threads_per_row 32: expected all 128 for rows read again",
            "TPR=128 hold=reload ahead=1": "rows_ahead 1: expected 0 for hold=reload",
            "ahead=2": "rows_ahead 2: expected 0 to 1 for hold=registers",
            "hold=shared": "rows_ahead 0: expected 1 to 3 for hold=shared",
            "cluster=2": "cluster 2: expected one of 1",
        }
    },
)


test_sums_of_two_arrays_are_not_copied = illegal(
    operator("layer_norm"),
    {
        SUM: {
            "hold=shared": "hold shared: expected registers or reload for the sum of two arrays",
            "vector_width=4": "vector_width 4: 16 bytes over the 8 that x, the residual and their sum are aligned",
        }
    },
)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_one_pass_has_few_vectors_of_a_thread(width):
    chosen = operator("layer_norm")
    schedule = chosen.kernels[0].schedule_type.parse([f"vector_width={width}", "passes=shifted"])
    for columns, rounds in ((512 * width, 16), (512 * width + 1, 17)):
        found = chosen.violations(
            LayerNormProblem(4, columns, BF16, align_x=2 * width, ldx=1024 * width), schedule, SPEC
        )
        assert any("passes shifted" in one for one in found) == (rounds > 16)


@pytest.mark.parametrize("passes", ["two", "welford", "shifted"])
def test_rows_of_several_blocks_in_place(passes):
    problem = LayerNormProblem(3, 200)
    verify(problem, program(problem, f"threads=32 TPR=32 cluster=2 vector_width=2 passes={passes}"))


H200 = named_device("h200")
LAYER_BACKWARD = NormBackwardProblem(4096, 2048, BF16, saved=True)
RMS_BACKWARD = NormBackwardProblem(4096, 2048, BF16, centered=False, bias=False, saved=True)
WIDE_BACKWARD = NormBackwardProblem(4096, 1024, saved=True)


def spilled(problem, schedule):
    """Bytes."""
    return compile_kernel(emit(problem, schedule), H200.arch).resources.spill_store_bytes


@pytest.mark.parametrize(
    ("problem", "words", "registers"),
    [
        (LAYER_BACKWARD, "threads=128 TPR=32 vector_width=8 hold=shared ahead=2", 344),
        (LAYER_BACKWARD, "threads=128 TPR=32 vector_width=8", 344),
        (LAYER_BACKWARD, "threads=128 TPR=64 vector_width=8 ahead=1", 216),
        (RMS_BACKWARD, "threads=128 TPR=32 vector_width=8 ahead=0", 280),
        (WIDE_BACKWARD, "threads=128 TPR=16 vector_width=4 hold=shared ahead=1", 344),
    ],
)
def test_what_does_not_fit_spills(problem, words, registers):
    schedule = NormBackwardSchedule.parse(words.split())
    assert schedule.footprint(problem).registers == registers
    if registers <= H200.registers_per_thread:
        schedule = schedule.replace(min_blocks_per_sm=3)
    assert OPERATOR.violations(problem, schedule, H200)
    assert spilled(problem, schedule) >= 80


@pytest.mark.parametrize(
    ("problem", "words", "registers"),
    [
        (LAYER_BACKWARD, "threads=128 TPR=64 vector_width=8 hold=shared ahead=2 min_blocks_per_sm=3", 144),
        (LAYER_BACKWARD, "threads=128 TPR=128 vector_width=8 ahead=1 min_blocks_per_sm=4", 120),
        (RMS_BACKWARD, "threads=128 TPR=64 vector_width=8 min_blocks_per_sm=3", 152),
        (WIDE_BACKWARD, "threads=128 TPR=32 vector_width=4 hold=shared ahead=1 min_blocks_per_sm=2", 184),
    ],
)
def test_what_fits_spills_nothing(problem, words, registers):
    schedule = NormBackwardSchedule.parse(words.split())
    assert schedule.footprint(problem).registers == registers
    assert not OPERATOR.violations(problem, schedule, H200)
    assert spilled(problem, schedule) == 0


@pytest.mark.parametrize("problem", [LAYER_BACKWARD, RMS_BACKWARD, WIDE_BACKWARD])
def test_seeds_spill_next_to_nothing(problem):
    for seed in OPERATOR.seeds(problem, H200)[:4]:
        assert spilled(problem, seed) <= 8, seed
