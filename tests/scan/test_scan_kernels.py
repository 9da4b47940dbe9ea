"""What scan's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scan_cases import (
    BFLOAT16,
    BULK,
    CASES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    LIMITS,
    LOOK_BACK,
    MAX,
    MIN,
    PIPELINED,
    PRODUCT,
    ROWS,
    SUM,
)

from autotune import emulator
from autotune.codegen.dtype import DType
from autotune.codegen.problem import Array
from autotune.codegen.program import Program
from autotune.codegen.scan.scan.emit import METHODS, emit, emit_block_scans
from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.codegen.schedule import Specialize
from autotune.codegen.tensor import Role, Tensor
from autotune.emulator import EmulatorError, verify
from autotune.search_spaces.scan.scan import OPERATOR

# Tiles of 32 elements: a group is 1024 of them, a section 32768.
TINY = ScanSchedule(LOOK_BACK, 32, 32, 1, 1)
SHARED = ScanSchedule(LOOK_BACK, 64, 64, 4, 2)
IN_TURN = ScanSchedule(ROWS, 64, 64, 4, 2)
COLUMNS = 3 * 512 + 131


def with_inputs(problem: ScanProblem, **arrays: Any) -> ScanProblem:
    """A problem some of whose inputs are given, and that has no other exact ones."""

    class Changed(ScanProblem):
        def inputs(self, seed: int) -> dict[str, Array]:
            inputs = super().inputs(seed)
            for name, values in arrays.items():
                inputs[name] = np.resize(values, inputs[name].size).astype(inputs[name].dtype)
            return inputs

        def exact_inputs(self, seed: int) -> dict[str, Array] | None:
            return None

    return Changed.from_dict(problem.to_dict())


def program(problem: ScanProblem, schedule: ScanSchedule) -> Program:
    return OPERATOR.program(problem, schedule, LIMITS)


def test_cases_cover_every_value() -> None:
    problems, schedules = [problem for problem, _ in CASES], [schedule for _, schedule in CASES]
    assert {problem.op for problem in problems} == set(Operation)
    assert {problem.dtype for problem in problems} == {FLOAT32, FLOAT16, BFLOAT16, FLOAT64, INT32, INT64}
    ways = {(p.exclusive, p.reverse, p.flags, p.offsets) for p in problems}
    assert len(ways) == 12
    assert any(p.wide for p in problems)
    assert any(p.rows > 1 and s.algorithm is LOOK_BACK for p, s in CASES)
    assert {s.grid_blocks // LIMITS.sm_count for s in schedules if s.stays} == {1, 2, 3, 4}
    for parameter in OPERATOR.space(ScanProblem(64, 4096, dtype=FLOAT16), LIMITS).parameters:
        if parameter.name != "blocks_per_sm":
            missing = set(parameter.values) - {getattr(schedule, parameter.name) for schedule in schedules}
            assert not missing, (parameter.name, missing)


@pytest.mark.parametrize(
    ("problem", "seeds"),
    [(ScanProblem(1, 36_000), (2,)), (ScanProblem(1, 2100, MAX, INT64, flags=True, reverse=True), (0, 1))],
    ids=lambda value: getattr(value, "key", ""),
)
def test_groups_and_sections_of_tiles(problem: ScanProblem, seeds: tuple[int, ...]) -> None:
    verify(problem, program(problem, TINY), seeds=seeds)


def test_rows_of_several_groups() -> None:
    problem = ScanProblem(2, 1100, SUM, INT32)
    verify(problem, program(problem, TINY))


class Words:
    """A look-back over 7 tiles of int32 whose workspace is an array, and what its launches leave there."""

    tiles = 7

    def __init__(self, rows: int = 1, schedule: ScanSchedule = TINY) -> None:
        self.problem = ScanProblem(rows, 200, SUM, INT32)
        self.program = program(self.problem, schedule)
        self.words = np.zeros(self.program.workspace_bytes // 8, np.uint64)

    def run(self, seed: int, right: str = "", planted: str = "") -> Array:
        """The results of a launch, with a bug if there is one."""
        assert right in self.program.source
        source = self.program.source.replace(right, planted) if right else self.program.source
        members = [replace(a, name="words") if a.name == "workspace" else a for a in self.program.arguments]
        scan = replace(
            self.program, source=source.replace("workspace", "words"), arguments=tuple(members), workspace_bytes=0
        )
        arrays = {**self.problem.inputs(seed), "y": np.zeros(200 * self.problem.rows, np.int32), "words": self.words}
        words = Tensor.flat("words", DType.UINT64, self.words.size, Role.IN_OUT, 16)
        emulator.run(scan, [*self.problem.tensors, words], arrays, {}, seed=seed)
        return arrays["y"]


@pytest.mark.parametrize("schedule", [TINY, ScanSchedule(PIPELINED, 32, 32, 1, 1, 2, 3)])
def test_launches_on_one_workspace(schedule: ScanSchedule) -> None:
    """What a launch leaves has its mark, and the counter is fit for the next one."""
    words = Words(schedule=schedule)
    for seed in range(3):
        expected = words.problem.reference(words.problem.inputs(seed), {})["y"]
        np.testing.assert_array_equal(words.run(seed), expected)
        marks = words.words[2 : 2 + words.tiles] >> np.uint64(32)
        assert marks.tolist() == words.tiles * [(seed + 1) << 1]
        assert words.words[0] == (seed + 1) << 32


def test_each_row_has_words_of_its_own() -> None:
    words = Words(rows=2)
    words.run(0)
    of_a_row = sum(TINY.groups(words.problem))
    for row in range(2):
        first = 2 + row * of_a_row
        assert (words.words[first : first + words.tiles] != 0).all()


def test_words_of_an_earlier_launch_are_not_taken() -> None:
    words = Words()
    words.run(0)
    with pytest.raises(EmulatorError, match="waits for ever"):
        words.run(0, "if (threadIdx.x == 0) words.publish(", "if (threadIdx.x == 0 && tile > 0) words.publish(")


def test_a_sum_has_the_same_bits_whichever_predecessor_was_first() -> None:
    """The emulator's blocks are done before the next one looks; here a group's carry is always late."""
    problem = ScanProblem(1, 3000)
    verify(problem, program(problem, TINY), seeds=(0, 1, 2, 3))


def _placed(value: float, *places: int) -> Array:
    x = np.ones(COLUMNS, np.float32)
    x[list(places)] = value
    return x


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(SUM, FLOAT32), (PRODUCT, BFLOAT16), (MAX, FLOAT32), (MAX, FLOAT64), (MIN, BFLOAT16), (MIN, FLOAT64)],
)
def test_nan_makes_what_follows_it_nan(op: Operation, dtype: DType) -> None:
    for places in ((0,), (700, 701), (COLUMNS - 1,)):
        problem = with_inputs(ScanProblem(1, COLUMNS, op, dtype), x=_placed(np.nan, *places))
        verify(problem, program(problem, replace(SHARED, vector_width=2)), seeds=(0,))


@pytest.mark.parametrize(
    ("op", "value", "schedule"),
    [(MAX, -np.inf, SHARED), (MIN, np.inf, IN_TURN), (SUM, np.inf, SHARED), (SUM, 0.0, IN_TURN)],
)
def test_constant_elements(op: Operation, value: float, schedule: ScanSchedule) -> None:
    problem = with_inputs(ScanProblem(1, COLUMNS, op, exclusive=True), x=[value])
    verify(problem, program(problem, schedule), seeds=(0,))


@pytest.mark.parametrize(("op", "value"), [(MAX, -(2**31)), (MIN, 2**31 - 1)])
def test_extreme_integers(op: Operation, value: int) -> None:
    problem = with_inputs(ScanProblem(1, COLUMNS, op, INT32, exclusive=True), x=[value])
    verify(problem, program(problem, SHARED), seeds=(0,))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("op", [SUM, PRODUCT])
def test_integers_wrap_at_their_width(op: Operation, wide: bool) -> None:
    problem = with_inputs(ScanProblem(1, COLUMNS, op, INT32, wide=wide), x=[2**31 - 1, -3, 2**24 + 1])
    verify(problem, program(problem, replace(SHARED, vector_width=2)), seeds=(0,))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "flags",
    [[1], [0], [255] + COLUMNS * [0], COLUMNS // 2 * [0, 0, 7] + [1], 63 * [0] + [1]],
    ids=["all", "none", "first", "thirds", "ends of warps"],
)
def test_segments_by_flags(flags: list[int], reverse: bool) -> None:
    problem = with_inputs(ScanProblem(1, COLUMNS, SUM, INT32, reverse=reverse, flags=True), flags=flags)
    for schedule in (SHARED, IN_TURN):
        verify(problem, program(problem, schedule), seeds=(0,))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "begins",
    [[], [0, 0, 0], [COLUMNS], [511, 512, 512, 513], range(COLUMNS), [1, 1, COLUMNS - 1]],
    ids=["one", "empty first", "empty last", "about a tile", "each element", "edges"],
)
def test_segments_by_offsets(begins: Any, reverse: bool) -> None:
    offsets = [0, *begins, COLUMNS]
    problem = ScanProblem(1, COLUMNS, SUM, INT32, reverse=reverse, offsets=True, segments=len(offsets) - 1)
    problem = with_inputs(problem, offsets=offsets)
    for schedule in (SHARED, IN_TURN):
        verify(problem, program(problem, schedule), seeds=(0,))


@pytest.mark.parametrize("offsets", [[-5, 3000, -1, 9], [7, 5, 3, 1], [2**40, -(2**40)]])
def test_wrong_offsets_write_nothing_elsewhere(offsets: list[int]) -> None:
    """Results are of no meaning, and all accesses are where they may be."""
    problem = ScanProblem(1, COLUMNS, SUM, INT32, offsets=True, segments=33)
    arrays = problem.inputs(0) | {"offsets": np.resize(offsets, 34).astype(np.int64), "y": np.zeros(COLUMNS, np.int32)}
    emulator.run(program(problem, SHARED), problem.tensors, arrays, {}, seed=0)


Change = dict[str, Any]
PLANTED = [
    # the source, what is there instead, columns, schedule
    ("Join()(Join()(of_sections, of_groups), of_tiles)", "Join()(of_groups, of_tiles)", 35_000, TINY),
    ("Join()(Join()(of_sections, of_groups), of_tiles)", "Join()(of_sections, of_tiles)", 1100, TINY),
    ("Join()(of_tiles, own)", "of_tiles", 1100, TINY),
    ("window - 1;", "window - 2;", 1100, TINY),
    ("tile == count - 1", "false", 200, TINY),
    ("atomicAdd(counter, 1ull)", "blockIdx.x", 200, TINY),
    ("  __syncthreads();\n  const Carry inclusive", "  const Carry inclusive", COLUMNS, SHARED),
    ("tile % 2 * (Schedule::threads / 32)", "0", 8 * COLUMNS, IN_TURN),
    ("left < width ? left : width", "width", COLUMNS, SHARED),
    ("Join()(total_, from_lane", "Join()(nothing(), from_lane", COLUMNS, SHARED),
    ("Join()(before, before_[round])", "before_[round]", COLUMNS, SHARED),
    ("before = Join()(before, warps.total);", "before = warps.total;", COLUMNS, IN_TURN),
]


@pytest.mark.parametrize(("right", "planted", "columns", "schedule"), PLANTED)
def test_planted_bug_is_caught(right: str, planted: str, columns: int, schedule: ScanSchedule) -> None:
    check_planted(ScanProblem(1, columns, SUM, INT32), schedule, right, planted)


@pytest.mark.parametrize(
    ("right", "planted", "way"),
    [
        ("before.has_head | after.has_head", "after.has_head", {"flags": True}),
        ("after.has_head ? after.number : combine", "combine", {"flags": True}),
        ("number = is_head(round, i) ? number_at(round, i) :", "number =", {"flags": True}),
        ("running = head ? number :", "running =", {"flags": True}),
        ("heads >> 1", "heads", {"flags": True, "reverse": True}),
        ("epoch_ << 1 | carry.has_head", "epoch_ << 1", {"flags": True}),
        ("rounded(head ? identity() : running)", "rounded(running)", {"flags": True, "exclusive": True}),
        ("end - 1] < key", "end - 1] <= key", {"offsets": True, "segments": 1500}),
        ("passed = __popc", "passed = 1 + __popc", {"offsets": True, "segments": 99}),
        (
            "lowest = span.first + span.begin + 1",
            "lowest = span.first + span.begin",
            {"offsets": True, "segments": 1500, "reverse": True},
        ),
        ("begin >= highest", "begin > highest", {"offsets": True, "segments": 1500}),
        ("running = combine(first, running);", "", {"init": True}),
        ("head ? first : running, number", "running, number", {"init": True, "flags": True}),
        ("head ? first : running)", "running)", {"init": True, "flags": True, "exclusive": True}),
        ("i < inside ? source[i] : neutral()", "source[i < inside ? i : 0]", {"reverse": True}),
        ("first < tile_elements - width ? -first", "first < tile_elements - width ? width - first", {"reverse": True}),
    ],
)
def test_planted_bug_of_segments_and_ways_is_caught(right: str, planted: str, way: Change) -> None:
    check_planted(ScanProblem(1, COLUMNS, SUM, INT32, **way), SHARED, right, planted)


def check_planted(problem: ScanProblem, schedule: ScanSchedule, right: str, planted: str) -> None:
    scan = program(problem, schedule)
    assert right in scan.source
    with pytest.raises(EmulatorError):
        verify(problem, replace(scan, source=scan.source.replace(right, planted)))


def test_a_wait_without_end_is_reported() -> None:
    problem = ScanProblem(1, 200)
    scan = program(problem, TINY)
    source = scan.source.replace(
        "slots[0].ticket = draw_tile(counter, gridDim.x)", "slots[0].ticket = {7 - blockIdx.x, 1}"
    )
    with pytest.raises(EmulatorError, match=r"waits for ever for bytes \d+ to \d+ of workspace, which no block"):
        verify(problem, replace(scan, source=source), seeds=(0,))


def test_carries_in_half_precision_are_caught() -> None:
    problem = ScanProblem(1, 3000, SUM, FLOAT16)
    scan = program(problem, TINY)
    combined = "combine(Number a, Number b) { return a + b; }"
    assert combined in scan.source
    half = "combine(Number a, Number b) { return to_float(from_float<float16>(a + b)); }"
    with pytest.raises(EmulatorError, match="wrong"):
        verify(problem, replace(scan, source=scan.source.replace(combined, half)), seeds=(0,))


@pytest.mark.parametrize("method", METHODS)
def test_block_scans_without_barriers_are_caught(method: str) -> None:
    problem = ScanProblem(1, 600)
    scan = emit_block_scans(problem, method)
    assert "__syncthreads();" in scan.source
    with pytest.raises(EmulatorError, match="race"):
        verify(problem, replace(scan, source=scan.source.replace("    __syncthreads();\n", "")), seeds=(0,))


def test_equal_sources_serve_many_problems() -> None:
    here, there = ScanProblem(1, 5000), ScanProblem(1, 70_000)
    assert emit(here, SHARED).source == emit(there, SHARED).source
    shaped = replace(SHARED, specialize=Specialize.SHAPE)
    assert emit(here, shaped).source != emit(there, shaped).source


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("step % 4", "step % 3"),
        ("__syncwarp();  // all lanes have read", ""),
        ("preceded[i].init(2)", "preceded[i].init(1)"),
        ("filled[stage].init(1)", "filled[stage].init(2)"),
        ("parity_of(step, Schedule::stages) ^ 1", "parity_of(step, Schedule::stages)"),
        ("i < span.end; ++i) target", "i + 1 < span.end; ++i) target"),
        ("if (copied < bytes) proxy_fence();", ""),
        ("if (bytes == 0) continue;", ""),
        ("Join()(pipeline.before[step % 2], of_warps)", "of_warps"),
        ("summed[step % 2].wait(parity_of(step, 2));", ""),
        ("pipeline.emptied[stage_of(step)].arrive();", "pipeline.filled[stage_of(step)].arrive();"),
    ],
)
def test_planted_bug_of_a_pipeline_is_caught(right: str, planted: str) -> None:
    """Rows of two whole tiles and one of three elements, of which bulk copies can take none."""
    problem = ScanProblem(9, 2 * 512 + 3, SUM, INT32, ldx=1028, ldy=1028)
    check_planted(problem, ScanSchedule(PIPELINED, 128, 128, 4, 1, 4, 2), right, planted)


BULK_SHARED = ScanSchedule(BULK, 64, 64, 4, 1, 4, 2)


@pytest.mark.parametrize(
    ("right", "planted", "way"),
    [
        ("step % 4", "step % 3", {}),
        ("preceded[i].init(2)", "preceded[i].init(1)", {}),
        ("parity_of(step, Schedule::stages) ^ 1", "parity_of(step, Schedule::stages)", {}),
        ("    proxy_fence();\n    __syncwarp();", "    __syncwarp();", {}),
        ("proxy_fence();  // later", "// later", {"reverse": True, "flags": True}),
        ("copy_rest(tile.elements, source, span.count);", "", {}),
        ("copy_rest(target, results, span.count);", "", {}),
        ("        store_wait_read<0>();\n", "", {}),
        ("pipeline.scanned[stage].wait(parity_of(step, Schedule::stages));", "", {}),
        ("pipeline.before[step % 2], of_warps", "of_warps, pipeline.before[step % 2]", {"flags": True}),
        ("tiles_of_row - 1 - tile_of(ticket)", "tile_of(ticket)", {"reverse": True}),
        ("tile_elements - width - vector * width", "vector * width", {"reverse": True}),
        ("return width - 1 - i;", "return i;", {"reverse": True}),
        ("offset + i < span.count ? source[i] : neutral()", "source[0]", {"reverse": True}),
        ("span.count + span.goes_on", "span.count", {"reverse": True, "flags": True}),
        ("heads >> 1", "heads", {"reverse": True, "flags": True}),
        ("running = is_head(i) ? number_at(i) :", "running =", {"flags": True}),
        ("return {number, heads != 0};", "return {number, 0u};", {"flags": True}),
        ("span.first + 1", "span.first", {"reverse": True, "offsets": True, "segments": 700}),
        ("place < span.count", "place <= span.count", {"offsets": True, "segments": 700}),
        ("marks[i] = 0;", ";", {"offsets": True, "segments": 700}),
        ("is_head(i) ? first : running)", "running)", {"init": True, "exclusive": True, "flags": True}),
    ],
)
def test_planted_bug_of_bulk_stores_is_caught(right: str, planted: str, way: Change) -> None:
    """Rows of several tiles, the last ones of three elements, of which bulk copies can take none."""
    several = ScanProblem(9, 2 * 256 + 3, SUM, INT32, ldx=516, ldy=516)
    problem = ScanProblem(1, 6 * 256 + 3, SUM, INT32, **way) if way else several
    check_planted(problem, BULK_SHARED, right, planted)


def test_tickets_that_are_not_in_order_are_caught() -> None:
    problem = ScanProblem(1, 6 * 256 + 3, SUM, INT32)
    check_planted(problem, BULK_SHARED, "return {tile, ", "return {tile < 7 ? 6 - tile : tile, ")


@pytest.mark.parametrize("columns", [256 - 1, 256 + 5])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("row * problem.ldx - skew", "row * problem.ldx"),
        ("row * problem.ldx % width", "row * problem.ldx % (width / 2)"),
        ("problem.columns + skew", "problem.columns"),
        ("if (offset + i >= span.begin && ", "if ("),
    ],
)
def test_planted_bug_of_rows_within_vectors_is_caught(right: str, planted: str, reverse: bool, columns: int) -> None:
    problem = ScanProblem(5, columns, SUM, INT32, reverse=reverse)
    check_planted(problem, ScanSchedule(ROWS, 64, 64, 4, 1), right, planted)
