"""What reduce's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from planted import caught, check_caught, with_bug
from reduce_cases import FOLDED, SPEC
from reduce_elements import SPLIT, WHOLE, cancelling, constant, placed, split_problem, with_elements

from autotune.codegen.model.schedule import Specialize
from autotune.codegen.rows.reduce import schedule as reduce_schedule
from autotune.codegen.rows.reduce.emit import emit, emit_serial, emit_tree
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import DTYPES, Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.contract.wide_layouts import check_wide, wide_layouts
from autotune.emulator import verify
from autotune.search_spaces.rows.reduce import OPERATOR

SUM, MEAN, L2, DOT, DIST, MAX, MIN, ARGMAX, ARGMIN = Operation
ALL, LAST, FIRST, SEGMENTS = Axis
FLOAT32, FLOAT16, BFLOAT16, INT32 = DTYPES

HARD = {
    "all -inf": constant(-np.inf),
    "one +inf": placed(np.inf, (7, 5)),
    "NaN first": placed(np.nan, (0, 0)),
    "NaN last": placed(np.nan, (130, 266)),
    "NaN often": placed(np.nan, *((9, column) for column in range(1, 267)), *((row, 17) for row in range(1, 131))),
    "largest in the tail": placed(1e4, (130, 266)),
    "largest at the end of the first block": placed(1e4, (31, 127), (31, 128)),
}


def _negated(change):
    """What is hard for maxima, for minima."""

    def changed(x):
        change(x)
        x[...] = -x

    return changed


@pytest.mark.parametrize(
    ("op", "axis", "dtype"),
    [
        *product((MAX, ARGMAX), WHOLE, (FLOAT32, BFLOAT16)),
        (ARGMAX, SEGMENTS, FLOAT32),
        (MIN, ALL, FLOAT32),
        (ARGMIN, LAST, FLOAT32),
        (ARGMIN, FIRST, FLOAT16),
    ],
)
def test_hard_extremes(op, axis, dtype):
    schedule = SPLIT[axis]
    for turn, change in enumerate(HARD.values()):
        problem = with_elements(split_problem(op, axis, dtype), _negated(change) if op.smallest else change)
        assert verify(problem, OPERATOR.program(problem, schedule, SPEC), seeds=(turn % 2,)) == 0


@pytest.mark.parametrize(("op", "value"), [(MAX, -(2**31)), (MIN, 2**31 - 1), (MIN, -(2**31))])
def test_any_integer_may_be_the_extreme(op, value):
    for axis in (ALL, FIRST):
        problem = with_elements(split_problem(op, axis, INT32), constant(value))
        assert verify(problem, OPERATOR.program(problem, SPLIT[axis], SPEC), seeds=(0,)) == 0


@pytest.mark.parametrize("axis", Axis)
def test_sums_of_half_precision_do_not_overflow_on_the_way(axis):
    problem = with_elements(split_problem(SUM, axis, FLOAT16), cancelling)
    verify(problem, OPERATOR.program(problem, SPLIT[axis], SPEC))


def test_integer_sums_wrap_at_64_bits():
    problem = with_elements(split_problem(SUM, ALL, INT32), constant(2**31 - 1))
    assert verify(problem, OPERATOR.program(problem, SPLIT[ALL], SPEC)) == 0


@pytest.mark.parametrize("op", [MEAN, L2, DOT])
def test_results_that_fit_half_precision_come_of_sums_that_do_not(op):
    problem = with_elements(split_problem(op, FIRST, FLOAT16), constant(5000))
    verify(problem, OPERATOR.program(problem, SPLIT[FIRST], SPEC))


@pytest.mark.parametrize("plain", [emit_serial, emit_tree])
def test_a_plain_kernel_finds_no_index_in_an_empty_segment(plain):
    problem = ReduceProblem(1, 300, ARGMIN, SEGMENTS, segments=67)
    assert verify(problem, plain(problem)) == 0


def test_equal_sources_serve_many_problems():
    here, there = ReduceProblem(64, 96), ReduceProblem(640, 960)
    schedule = ReduceSchedule(vector_width=4)
    assert emit(here, schedule).source == emit(there, schedule).source
    shaped = replace(schedule, specialize=Specialize.SHAPE)
    assert emit(here, shaped).source != emit(there, shaped).source


@pytest.mark.parametrize("axis", Axis)
def test_wide_indices(axis, monkeypatch):
    segments = {"segments": 3} if axis is SEGMENTS else {}
    rows, columns = (2**33, 1) if axis is FIRST else (1, 2**33)
    huge = ReduceProblem(rows, columns, ARGMAX, axis, **segments)
    assert ReduceSchedule().wide(huge)
    schedule, reduced = ReduceSchedule(), "rows" if axis is FIRST else "columns"
    beyond = replace(huge, **{reduced: 2**31 - schedule.splits * schedule.tile(huge) - schedule.vector_width}, ldx=0)
    narrow = replace(beyond, **{reduced: getattr(beyond, reduced) - 1}, ldx=0)
    assert (schedule.wide(narrow), schedule.wide(beyond)) == (False, True)  # the last index is 2^31 - 1
    monkeypatch.setattr(ReduceSchedule, "wide", lambda *_: True)
    problem = split_problem(ARGMAX, axis)
    program = OPERATOR.program(problem, SPLIT[axis], SPEC)
    assert "using Index = long long;" in program.source
    assert verify(problem, program) == 0


@pytest.mark.parametrize("splits", [1, 2])
def test_rows_that_are_reduced_may_be_far_apart(splits):
    problem = ReduceProblem(5, 300)
    for layout in wide_layouts(problem):
        check_wide(problem, layout, OPERATOR.program(layout, ReduceSchedule(128, 128, 1, splits=splits), SPEC))


@pytest.mark.parametrize("words", ["TPR=8 loads_in_flight=1", "TPR=64 loads_in_flight=2", "TPR=32 loads_in_flight=8"])
@pytest.mark.parametrize("op", [SUM, MEAN, MAX, ARGMIN])
def test_staged_segments(op, words):
    """Of one tile and of several, of all dtypes in turn."""
    dtype = (FLOAT32, BFLOAT16, FLOAT16)[len(words) % 3]
    problem = ReduceProblem(1, 5003, op, SEGMENTS, dtype, segments=97)
    schedule = ReduceSchedule.parse(f"threads=128 vector_width=4 staged=1 {words}".split())
    verify(problem, OPERATOR.program(problem, schedule, SPEC), seeds=(1,))


def test_a_mean_of_rows_is_divided_by_their_number():
    problem = split_problem(MEAN, FIRST)
    program = OPERATOR.program(problem, SPLIT[FIRST], SPEC)
    check_caught(problem, program, "result_of(total, problem.rows)", "result_of(total, problem.columns)")


@pytest.mark.parametrize("change", [None, cancelling])
def test_accumulation_in_half_precision_is_caught(change):
    problem = split_problem(SUM, ALL, FLOAT16)
    problem = with_elements(problem, change) if change else problem
    program = emit_serial(problem)
    rounding = "partial = to_float(from_float<float16>(partial + number_of(element)));"
    check_caught(problem, program, "partial += number_of(element);", rounding, said="wrong")


@pytest.mark.parametrize(
    ("right", "planted", "said"),
    [
        ("    __syncthreads();\n", "    if (half >= 32) __syncthreads();\n", "race"),
        ("  partials[thread] =", "  if (thread < line.count) partials[thread] =", "got nan"),
    ],
)
def test_bugs_of_textbook_dot_products_are_caught(right, planted, said):
    problem = with_elements(ReduceProblem(1, 200, DOT, ALL, FLOAT16), constant(18))
    check_caught(problem, emit_tree(problem), right, planted, said=said)


STAGED = "threads=128 TPR=16 vector_width=4 loads_in_flight=1 staged=1"


# Blocks of eight segments, of which some are empty, and several tiles each; the last vector is partly there.
test_planted_bug_in_staged_segments_is_caught = caught(
    lambda problem, words: OPERATOR.program(problem, ReduceSchedule.parse(words.split()), SPEC),
    [
        (ReduceProblem(1, 5003, ARGMAX, SEGMENTS, segments=19), STAGED, *bug)
        for bug in [
            ("__syncthreads();  // before", "// before"),
            ("max(start, begin)", "begin"),  # the one before counts, too
            ("static_cast<Index>(from - start)", "0"),
            ("index + i", "i"),
        ]
    ],
    (1,),
)


def test_zeros_behind_the_last_element_of_folded_rows_do_not_count():
    problem = with_elements(ReduceProblem(1003, 67, MIN, FIRST, FLOAT16), constant(3))
    program = OPERATOR.program(problem, FOLDED, SPEC)
    check_caught(problem, program, "if (i < left - load * step) take", "take", seeds=(0,))


def test_elements_behind_the_last_one_of_folded_rows_fit_an_index(monkeypatch):
    """By indices of 16 bits instead of 32, whose end small arrays reach."""
    monkeypatch.setattr(reduce_schedule, "INT_MAX", 2**15 - 1)
    small, large = ReduceProblem(1003, 9, SUM, FIRST, FLOAT16), ReduceProblem(1003, 67, SUM, FIRST, FLOAT16)
    assert (FOLDED.wide(small), FOLDED.wide(large)) == (False, True)
    narrow, wide = (OPERATOR.program(problem, FOLDED, SPEC) for problem in (small, large))
    verify(small, with_bug(narrow, "using Index = int;", "using Index = short;"), seeds=(0,))
    check_caught(large, wide, "using Index = long long;", "using Index = short;", seeds=(0,))
