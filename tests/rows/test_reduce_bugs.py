"""Bugs that are planted in reduce's kernels, each of which the emulator finds."""

import pytest
from planted import check_caught, with_bug
from reduce_cases import (
    ALL,
    ARGMAX,
    DOT,
    FIRST,
    FLOAT16,
    FOLDED,
    LAST,
    MEAN,
    MIN,
    SEGMENTS,
    SPEC,
    SUM,
)
from reduce_elements import SPLIT, Elements, cancelling, constant, split_problem, with_elements

from autotune.codegen.rows.reduce import schedule as reduce_schedule
from autotune.codegen.rows.reduce.emit import emit_serial, emit_tree
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.emulator import verify
from autotune.search_spaces.rows.reduce import OPERATOR


@pytest.mark.parametrize(
    ("right", "planted", "op", "axis"),
    [
        ("if (split == 0) take_head", "take_head", SUM, LAST),
        ("result_of(total, problem.rows)", "result_of(total, problem.columns)", MEAN, FIRST),
    ],
)
def test_planted_bug_is_caught(right: str, planted: str, op: Operation, axis: Axis) -> None:
    problem = split_problem(op, axis)
    check_caught(problem, OPERATOR.program(problem, SPLIT[axis], SPEC), right, planted)


def test_the_first_of_equal_elements_is_taken() -> None:
    problem = with_elements(split_problem(ARGMAX, LAST), constant(3))
    program = OPERATOR.program(problem, SPLIT[LAST], SPEC)
    check_caught(problem, program, "!(number <= partial.value)", "number >= partial.value")


@pytest.mark.parametrize("change", [None, cancelling])
def test_accumulation_in_half_precision_is_caught(change: Elements | None) -> None:
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
def test_bugs_of_textbook_dot_products_are_caught(right: str, planted: str, said: str) -> None:
    problem = with_elements(ReduceProblem(1, 200, DOT, ALL, FLOAT16), constant(18))
    check_caught(problem, emit_tree(problem), right, planted, said=said)


STAGED = "threads=128 TPR=16 vector_width=4 loads_in_flight=1 staged=1"


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("__syncthreads();  // before", "// before"),
        ("max(start, begin)", "begin"),  # the one before counts, too
        ("static_cast<Index>(from - start)", "0"),
        ("index + i", "i"),
    ],
)
def test_planted_bug_in_staged_segments_is_caught(right: str, planted: str) -> None:
    """Blocks of eight segments, of which some are empty, and several tiles each; the last vector is partly there."""
    problem = ReduceProblem(1, 5003, ARGMAX, SEGMENTS, segments=19)
    kernel = OPERATOR.program(problem, ReduceSchedule.parse(STAGED.split()), SPEC)
    check_caught(problem, kernel, right, planted, seeds=(1,))


@pytest.mark.parametrize(
    ("right", "planted", "op", "change"),
    [
        ("if (i < left - load * step) take", "take", MIN, constant(3)),  # zeros behind the last element count
        ("problem.elements - place", "0", SUM, None),  # what is not a whole tile is left out
    ],
)
def test_planted_bug_in_folded_rows_is_caught(right: str, planted: str, op: Operation, change: Elements | None) -> None:
    problem = ReduceProblem(1003, 67, op, FIRST, FLOAT16)
    problem = with_elements(problem, change) if change else problem
    program = OPERATOR.program(problem, FOLDED, SPEC)
    check_caught(problem, program, right, planted, seeds=(0,))


def test_elements_behind_the_last_one_of_folded_rows_fit_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """By indices of 16 bits instead of 32, whose end small arrays reach."""
    monkeypatch.setattr(reduce_schedule, "INT_MAX", 2**15 - 1)
    small, large = ReduceProblem(1003, 9, SUM, FIRST, FLOAT16), ReduceProblem(1003, 67, SUM, FIRST, FLOAT16)
    narrow, wide = (OPERATOR.program(problem, FOLDED, SPEC) for problem in (small, large))
    verify(small, with_bug(narrow, "using Index = int;", "using Index = short;"), seeds=(0,))
    check_caught(large, wide, "using Index = long long;", "using Index = short;", seeds=(0,))
