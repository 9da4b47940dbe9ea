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
    ("before = Join()(before, warps.total);", "before = warps.total;", COLUMNS, IN_TURN),
]


@pytest.mark.parametrize(("right", "planted", "columns", "schedule"), PLANTED)
def test_planted_bug_is_caught(right: str, planted: str, columns: int, schedule: ScanSchedule) -> None:
    check_planted(ScanProblem(1, columns, SUM, INT32), schedule, right, planted)


@pytest.mark.parametrize(
    ("right", "planted", "way"),
    [
        ("end - 1] < key", "end - 1] <= key", {"offsets": True, "segments": 1500}),
        (
            "lowest = span.first + span.begin + 1",
            "lowest = span.first + span.begin",
            {"offsets": True, "segments": 1500, "reverse": True},
        ),
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
        ("if (copied < bytes) proxy_fence();", ""),
        ("if (bytes == 0) continue;", ""),
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
        ("proxy_fence();  // later", "// later", {"reverse": True, "flags": True}),
        ("span.count + span.goes_on", "span.count", {"reverse": True, "flags": True}),
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
