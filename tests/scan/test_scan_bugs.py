"""Bugs that are planted in scan's kernels, each of which the emulator finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from planted import check_caught
from scan_cases import FLOAT16, INT32, SUM
from scan_tiles import COLUMNS, IN_TURN, SHARED, TINY, program

from autotune.codegen.scan.scan.bulk.schedule import BulkSchedule
from autotune.codegen.scan.scan.emit import METHODS, emit_block_scans
from autotune.codegen.scan.scan.pipelined.schedule import PipelinedSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.emulator import EmulatorError, verify

Change = dict[str, Any]
PLANTED = [
    # the source, what is there instead, columns, schedule
    ("Join()(Join()(of_sections, of_groups), of_tiles)", "Join()(of_groups, of_tiles)", 35_000, TINY),
    ("Join()(Join()(of_sections, of_groups), of_tiles)", "Join()(of_sections, of_tiles)", 1100, TINY),
    ("Join()(of_tiles, own)", "of_tiles", 1100, TINY),
    ("ends_group && groups_before == window - 1", "ends_group", 2100, TINY),
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
    check_caught(problem, scan, right, planted)


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
    half = "combine(Number a, Number b) { return to_float(from_float<float16>(a + b)); }"
    check_caught(problem, scan, combined, half, seeds=(0,), said="wrong")


@pytest.mark.parametrize("method", METHODS)
def test_block_scans_without_barriers_are_caught(method: str) -> None:
    problem = ScanProblem(1, 600)
    scan = emit_block_scans(problem, method)
    check_caught(problem, scan, "    __syncthreads();\n", "", seeds=(0,), said="race")


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
    check_planted(problem, PipelinedSchedule(128, 4, 1, 4, 2), right, planted)


BULK_SHARED = BulkSchedule(64, 4, 1, 4, 2)


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
    check_planted(problem, RowsSchedule(64, 64, 4, 1), right, planted)
