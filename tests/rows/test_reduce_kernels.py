"""What reduce's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from contract.wide_layouts import check_wide, wide_layouts
from reduce_cases import (
    ALL,
    ARGMAX,
    ARGMIN,
    BFLOAT16,
    CASES,
    DIST,
    DOT,
    FIRST,
    FLOAT16,
    FLOAT32,
    INT32,
    KINDS,
    L2,
    LAST,
    LIMITS,
    MAX,
    MEAN,
    MIN,
    SEGMENTS,
    SUM,
)

from autotune.codegen.dtype import DType
from autotune.codegen.problem import Array
from autotune.codegen.program import Program
from autotune.codegen.rows.reduce.emit import emit, emit_serial, emit_tree
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import DTYPES, Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.codegen.schedule import Specialize
from autotune.emulator import EmulatorError, verify
from autotune.search_spaces.rows.reduce import OPERATOR

# Two blocks for each row or strip of columns, with a tail of rows and of columns.
ROWS, COLUMNS = 131, 267
SPLIT_ROWS = ReduceSchedule(128, 128, 2, 1, splits=2)
SPLIT_COLUMNS = ReduceSchedule(128, 32, 4, 8, splits=2)
SPLIT = {ALL: replace(SPLIT_ROWS, vector_width=4), LAST: SPLIT_ROWS, FIRST: SPLIT_COLUMNS, SEGMENTS: SPLIT_ROWS}
WHOLE = (ALL, LAST, FIRST)  # axes whose results have as many elements each
Elements = Callable[[Array], None]


def with_elements(problem: ReduceProblem, change: Elements) -> ReduceProblem:
    """A problem whose inputs, seen as a matrix, are changed."""

    class Changed(ReduceProblem):
        def inputs(self, seed: int) -> dict[str, Array]:
            inputs = super().inputs(seed)
            for tensor in self.tensors:
                if tensor.name in ("x", "other"):
                    change(tensor.view(inputs[tensor.name]))
            return inputs

    return Changed.from_dict(problem.to_dict())


def split_problem(op: Operation, axis: Axis, dtype: str = FLOAT32) -> ReduceProblem:
    """One that `SPLIT` serves."""
    if axis is SEGMENTS:
        return ReduceProblem(ROWS, COLUMNS, op, axis, dtype, segments=67)
    return ReduceProblem(ROWS, COLUMNS, op, axis, dtype, ldx={ALL: 0, LAST: 269, FIRST: 268}[axis])


def test_cases_cover_every_value() -> None:
    assert {(p.op, p.axis) for p, _ in CASES} == {(op, axis) for op, axis, _ in KINDS}
    assert {(p.op.adds, p.dtype) for p, _ in CASES} == set(product((True, False), DTYPES))
    for axis in Axis:
        splits = [s.splits > 1 for p, s in CASES if p.axis is axis]
        assert 2 <= sum(splits) <= len(splits) - 2
    schedules = [schedule for _, schedule in CASES]
    space = OPERATOR.space(ReduceProblem(4096, 4096, dtype=FLOAT16), LIMITS)
    for parameter in space.parameters:
        if parameter.name != "splits":
            assert set(parameter.values) <= {getattr(schedule, parameter.name) for schedule in schedules}


def _constant(value: float) -> Elements:
    def change(x: Array) -> None:
        x[...] = value

    return change


def _placed(value: float, *places: tuple[int, int]) -> Elements:
    def change(x: Array) -> None:
        for row, column in places:
            x[min(row, len(x) - 1), column] = value

    return change


def _cancelling(x: Array) -> None:
    x[...] = 0
    flat = x.reshape(-1)
    flat[: 4 * (flat.size // 4)] = np.resize([6e4, 6e4, -6e4, -6e4], 4 * (flat.size // 4))


HARD = {
    "all -inf": _constant(-np.inf),
    "one +inf": _placed(np.inf, (7, 5)),
    "NaN first": _placed(np.nan, (0, 0)),
    "NaN last": _placed(np.nan, (130, 266)),
    "NaN twice": _placed(np.nan, (9, 17), (130, 266), (9, 200), (120, 17)),
    "largest in the tail": _placed(1e4, (130, 266)),
    "largest at the end of the first block": _placed(1e4, (31, 127), (31, 128)),
}


def _negated(change: Elements) -> Elements:
    """What is hard for maxima, for minima."""

    def changed(x: Array) -> None:
        change(x)
        x[...] = -x

    return changed


@pytest.mark.parametrize(
    ("op", "axis", "dtype"),
    [
        *product((MAX, ARGMAX), WHOLE, (FLOAT32, FLOAT16, BFLOAT16)),
        (ARGMAX, SEGMENTS, FLOAT32),
        (MIN, ALL, FLOAT32),
        (ARGMIN, LAST, FLOAT32),
        (ARGMIN, FIRST, FLOAT16),
    ],
)
def test_hard_extremes(op: Operation, axis: Axis, dtype: DType) -> None:
    schedule = SPLIT[axis]
    for change in HARD.values():
        problem = with_elements(split_problem(op, axis, dtype), _negated(change) if op.smallest else change)
        assert verify(problem, OPERATOR.program(problem, schedule, LIMITS), seeds=(0, 1)) == 0


@pytest.mark.parametrize(("op", "value"), [(MAX, -(2**31)), (MIN, 2**31 - 1), (MIN, -(2**31))])
def test_any_integer_may_be_the_extreme(op: Operation, value: int) -> None:
    for axis in (ALL, FIRST):
        problem = with_elements(split_problem(op, axis, INT32), _constant(value))
        assert verify(problem, OPERATOR.program(problem, SPLIT[axis], LIMITS), seeds=(0,)) == 0


@pytest.mark.parametrize("axis", Axis)
def test_sums_of_half_precision_do_not_overflow_on_the_way(axis: Axis) -> None:
    problem = with_elements(split_problem(SUM, axis, FLOAT16), _cancelling)
    verify(problem, OPERATOR.program(problem, SPLIT[axis], LIMITS))


def test_integer_sums_wrap_at_64_bits() -> None:
    problem = with_elements(split_problem(SUM, ALL, INT32), _constant(2**31 - 1))
    assert verify(problem, OPERATOR.program(problem, SPLIT[ALL], LIMITS)) == 0


@pytest.mark.parametrize("op", [MEAN, L2, DOT])
def test_results_that_fit_half_precision_come_of_sums_that_do_not(op: Operation) -> None:
    problem = with_elements(split_problem(op, FIRST, FLOAT16), _constant(5000))
    verify(problem, OPERATOR.program(problem, SPLIT[FIRST], LIMITS))


@pytest.mark.parametrize("plain", [emit_serial, emit_tree])
def test_a_plain_kernel_finds_no_index_in_an_empty_segment(plain: Callable[[ReduceProblem], Program]) -> None:
    problem = ReduceProblem(1, 300, ARGMIN, SEGMENTS, segments=67)
    assert verify(problem, plain(problem)) == 0


TIES, NANS = _constant(3), _placed(np.nan, (9, 17), (40, 200), (120, 17))
COMBINE_TIE, TAKE = "tie ? a.index < b.index", "!(number <= partial.value)"


@pytest.mark.parametrize(
    ("right", "planted", "op", "axis", "change"),
    [
        ("if (last) *counter = 0;", "", SUM, ALL, None),
        ("    __threadfence();\n    last =", "    last =", SUM, FIRST, None),
        ("if (lane == 0) scratch[warp] = value;\n    __syncthreads();", "scratch[warp] = value;", SUM, LAST, None),
        ("= partials[i];\n  __syncthreads();", "= partials[i];", SUM, FIRST, None),
        ("if (inside >= vector_width) return", "if (inside > 0) return", MAX, ALL, None),
        ("if (inside >= vector_width) return", "if (inside > 0) return", SUM, FIRST, None),
        ("counters + group", "counters", SUM, FIRST, None),
        ("tile + head;", "tile;", SUM, LAST, None),
        ("if (split == 0) take_head", "take_head", SUM, LAST, None),
        ("part = RowPart(lane)", "", ARGMAX, LAST, _constant(-np.inf)),
        ("return total.index + place;", "return total.index;", ARGMAX, ALL, None),
        ("i = vector_width - 1; i >= 0; --i", "i = 0; i < vector_width; ++i", ARGMAX, ALL, TIES),
        ("|| (number != number && total.value != total.value)", "", ARGMAX, LAST, NANS),
        ("if (total.index < head) return total.index;", "", ARGMAX, LAST, _constant(-np.inf)),
        (COMBINE_TIE, "tie ? a.index > b.index", ARGMAX, ALL, TIES),
        (COMBINE_TIE, "tie ? a.index > b.index", ARGMAX, FIRST, TIES),
        (TAKE, "number >= partial.value", ARGMAX, LAST, TIES),
        (TAKE, "number > partial.value", ARGMAX, LAST, NANS),
        (" && partial.value == partial.value", "", ARGMAX, FIRST, NANS),
        ("return a > b || a != a ? a : b;", "return a > b ? a : b;", MAX, ALL, NANS),
        ("turned(to_float(element))", "to_float(element)", ARGMIN, LAST, None),
        ("rounded(turned(partial))", "rounded(partial)", MIN, FIRST, None),
        ("partial / count", "partial", MEAN, LAST, None),
        ("result_of(total, problem.rows)", "result_of(total, problem.columns)", MEAN, FIRST, None),
        ("sqrtf(partial)", "partial", L2, ALL, None),
        ("load_global<width, streaming>(source.other)", "load_global<width, streaming>(source.x)", DOT, ALL, None),
        ("other + i", "other", DIST, LAST, None),
        ("difference * difference", "difference", DIST, FIRST, None),
        ("count == 0 ? -1 : ", "", ARGMIN, SEGMENTS, None),
        ("counters + segment", "counters", SUM, SEGMENTS, None),
        ("arguments.offsets[segment + 1] - start", "arguments.offsets[segment + 1]", MAX, SEGMENTS, None),
    ],
)
def test_planted_bug_is_caught(right: str, planted: str, op: Operation, axis: Axis, change: Elements | None) -> None:
    problem = split_problem(op, axis)
    problem = with_elements(problem, change) if change else problem
    program = OPERATOR.program(problem, SPLIT[axis], LIMITS)
    verify(problem, program)
    with pytest.raises(EmulatorError):
        verify(problem, _planted(program, right, planted))


@pytest.mark.parametrize("change", [None, _cancelling])
def test_accumulation_in_half_precision_is_caught(change: Elements | None) -> None:
    problem = split_problem(SUM, ALL, FLOAT16)
    problem = with_elements(problem, change) if change else problem
    program = emit_serial(problem)
    verify(problem, program)
    rounding = "partial = to_float(from_float<float16>(partial + number_of(element)));"
    with pytest.raises(EmulatorError, match="wrong"):
        verify(problem, _planted(program, "partial += number_of(element);", rounding))


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
    problem = with_elements(ReduceProblem(1, 200, DOT, ALL, FLOAT16), _constant(18))
    program = plain(problem)
    verify(problem, program)
    with pytest.raises(EmulatorError, match=said):
        verify(problem, _planted(program, right, planted))


def test_a_last_warp_without_barriers_is_caught() -> None:
    problem = ReduceProblem(3, 700)
    program = emit_tree(problem)
    verify(problem, program)
    with pytest.raises(EmulatorError, match="race"):
        verify(problem, _planted(program, "    __syncthreads();\n", "    if (half >= 32) __syncthreads();\n"))


def _planted(program: Program, right: str, planted: str) -> Program:
    assert right in program.source
    return replace(program, source=program.source.replace(right, planted))


def test_equal_sources_serve_many_problems() -> None:
    here, there = ReduceProblem(64, 96), ReduceProblem(640, 960)
    schedule = ReduceSchedule(vector_width=4)
    assert emit(here, schedule).source == emit(there, schedule).source
    shaped = replace(schedule, specialize=Specialize.SHAPE)
    assert emit(here, shaped).source != emit(there, shaped).source


@pytest.mark.parametrize("axis", Axis)
def test_wide_indices(axis: Axis, monkeypatch: pytest.MonkeyPatch) -> None:
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
    program = OPERATOR.program(problem, SPLIT[axis], LIMITS)
    assert "using Index = long long;" in program.source
    assert verify(problem, program) == 0


@pytest.mark.parametrize("splits", [1, 2])
def test_rows_that_are_reduced_may_be_far_apart(splits: int) -> None:
    problem = ReduceProblem(5, 300)
    for layout in wide_layouts(problem):
        check_wide(problem, layout, OPERATOR.program(layout, ReduceSchedule(128, 128, 1, splits=splits), LIMITS))
