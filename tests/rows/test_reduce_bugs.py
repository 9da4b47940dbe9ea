"""Bugs that are planted in reduce's kernels, each of which the emulator finds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from planted import check_caught, with_bug
from reduce_cases import (
    ALL,
    ARGMAX,
    DOT,
    FIRST,
    FLOAT16,
    LAST,
    MAX,
    MEAN,
    MIN,
    SEGMENTS,
    SPEC,
    SUM,
)
from reduce_elements import SPLIT, Elements, cancelling, constant, placed, split_problem, with_elements

from autotune.codegen.model.program import Program
from autotune.codegen.rows.reduce import schedule as reduce_schedule
from autotune.codegen.rows.reduce.emit import emit_serial, emit_tree
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.emulator import verify
from autotune.search_spaces.rows.reduce import OPERATOR

TIES, NANS = constant(3), placed(np.nan, (9, 17), (40, 200), (120, 17))
TAKE = "!(number <= partial.value)"


@pytest.mark.parametrize(
    ("right", "planted", "op", "axis", "change"),
    [
        ("counters + group", "counters", SUM, FIRST, None),
        ("if (split == 0) take_head", "take_head", SUM, LAST, None),
        ("part = RowPart(lane)", "", ARGMAX, LAST, constant(-np.inf)),
        ("i = vector_width - 1; i >= 0; --i", "i = 0; i < vector_width; ++i", ARGMAX, ALL, TIES),
        ("|| (number != number && total.value != total.value)", "", ARGMAX, LAST, NANS),
        ("if (total.index < head) return total.index;", "", ARGMAX, LAST, constant(-np.inf)),
        (TAKE, "number > partial.value", ARGMAX, LAST, NANS),
        (" && partial.value == partial.value", "", ARGMAX, FIRST, NANS),
        ("return a > b || a != a ? a : b;", "return a > b ? a : b;", MAX, ALL, NANS),
        ("result_of(total, problem.rows)", "result_of(total, problem.columns)", MEAN, FIRST, None),
        ("counters + segment", "counters", SUM, SEGMENTS, None),
    ],
)
def test_planted_bug_is_caught(right: str, planted: str, op: Operation, axis: Axis, change: Elements | None) -> None:
    problem = split_problem(op, axis)
    problem = with_elements(problem, change) if change else problem
    program = OPERATOR.program(problem, SPLIT[axis], SPEC)
    check_caught(problem, program, right, planted)


@pytest.mark.parametrize("change", [None, cancelling])
def test_accumulation_in_half_precision_is_caught(change: Elements | None) -> None:
    problem = split_problem(SUM, ALL, FLOAT16)
    problem = with_elements(problem, change) if change else problem
    program = emit_serial(problem)
    rounding = "partial = to_float(from_float<float16>(partial + number_of(element)));"
    check_caught(problem, program, "partial += number_of(element);", rounding, said="wrong")


ROUND = "partial = to_float(from_float<float16>(partial + number_of(element)));"


@pytest.mark.parametrize(
    ("plain", "right", "planted", "said"),
    [
        (emit_serial, "partial += number_of(element);", ROUND, "wrong"),
        (emit_tree, "    __syncthreads();\n", "    if (half >= 32) __syncthreads();\n", "race"),
        (emit_tree, "  partials[thread] =", "  if (thread < line.count) partials[thread] =", "got nan"),
        (emit_tree, "i < line.count", "i < line.count + 3", "reads bytes 400 to 401 of x, which has 400 bytes"),
    ],
)
def test_bugs_of_textbook_dot_products_are_caught(
    plain: Callable[[ReduceProblem], Program], right: str, planted: str, said: str
) -> None:
    problem = with_elements(ReduceProblem(1, 200, DOT, ALL, FLOAT16), constant(18))
    program = plain(problem)
    check_caught(problem, program, right, planted, said=said)


def test_a_last_warp_without_barriers_is_caught() -> None:
    problem = ReduceProblem(3, 700)
    program = emit_tree(problem)
    check_caught(problem, program, "    __syncthreads();\n", "    if (half >= 32) __syncthreads();\n", said="race")


STAGED = "threads=128 TPR=16 vector_width=4 loads_in_flight=1 staged=1"


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("columns & -vector_width;", "columns;"),  # the last vector is read beyond the array
        ("__syncthreads();  // before", "// before"),
        ("all_begin & -vector_width", "all_begin"),  # vectors are not aligned
        ("static_cast<Index>(from - start)", "0"),
        ("index + i", "i"),
    ],
)
def test_planted_bug_in_staged_segments_is_caught(right: str, planted: str) -> None:
    """Blocks of eight segments, of which some are empty, and several tiles each; the last vector is partly there."""
    problem = ReduceProblem(1, 5003, ARGMAX, SEGMENTS, segments=19)
    kernel = OPERATOR.program(problem, ReduceSchedule.parse(STAGED.split()), SPEC)
    check_caught(problem, kernel, right, planted, seeds=(1,))


FOLDED = ReduceSchedule.parse(["threads=128", "TPR=8", "vector_width=8", "loads_in_flight=2", "splits=3", "folded=1"])


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
