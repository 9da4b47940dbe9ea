"""Bugs that are planted in scan's kernels, and that no drawn case of the contract finds."""

from dataclasses import replace

import pytest
from planted import check_caught
from scan_cases import FLOAT16, INT32, SUM
from scan_tiles import COLUMNS, SHARED, TINY, program

from autotune.codegen.scan.scan.bulk.schedule import BulkSchedule
from autotune.codegen.scan.scan.emit import METHODS, emit_block_scans
from autotune.codegen.scan.scan.pipelined.schedule import PipelinedSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.emulator import EmulatorError, verify

FLAGS = ScanProblem(1, COLUMNS, SUM, INT32, flags=True)
LATE = ScanProblem(1, COLUMNS, SUM, INT32, reverse=True, offsets=True, segments=1500)
# Rows of several tiles, and one of three elements, of which bulk copies can take none.
PIPELINED = ScanProblem(9, 2 * 512 + 3, SUM, INT32, ldx=1028, ldy=1028), PipelinedSchedule(128, 4, 1, 4, 2)
STORED, BULK = ScanProblem(1, 6 * 256 + 3, SUM, INT32), BulkSchedule(64, 4, 1, 4, 2)
TURNED = replace(STORED, reverse=True, flags=True), BULK
SEGMENTS = replace(STORED, offsets=True, segments=700), BULK
STARTED = replace(STORED, init=True, exclusive=True, flags=True), BULK
WITHIN_VECTORS = ScanProblem(5, 256 - 1, SUM, INT32), RowsSchedule(64, 64, 4, 1)


@pytest.mark.parametrize(
    ("problem", "schedule", "right", "planted"),
    [
        (LATE, SHARED, "lowest = span.first + span.begin + 1", "lowest = span.first + span.begin"),
        (STARTED[0], SHARED, "head ? first : running)", "running)"),
        (replace(STORED, reverse=True), BULK, "offset + i < span.count ? source[i] : neutral()", "source[0]"),
        (FLAGS, SHARED, "epoch_ << 1 | carry.has_head", "epoch_ << 1"),
        (*PIPELINED, "i < span.end; ++i) target", "i + 1 < span.end; ++i) target"),
        (*PIPELINED, "if (copied < bytes) proxy_fence();", ""),
        (*PIPELINED, "if (bytes == 0) continue;", ""),
        (*TURNED, "proxy_fence();  // later", "// later"),
        (*TURNED, "span.count + span.goes_on", "span.count"),
        (*SEGMENTS, "place < span.count", "place <= span.count"),
        (*STARTED, "is_head(i) ? first : running)", "running)"),
        (STORED, BULK, "return {tile, ", "return {tile < 7 ? 6 - tile : tile, "),  # tickets that are not in order
        (*WITHIN_VECTORS, "row * problem.ldx - skew", "row * problem.ldx"),
        (*WITHIN_VECTORS, "row * problem.ldx % width", "row * problem.ldx % (width / 2)"),
        (*WITHIN_VECTORS, "problem.columns + skew", "problem.columns"),
        (*WITHIN_VECTORS, "if (offset + i >= span.begin && ", "if ("),
    ],
)
def test_planted_bug_is_caught(problem: ScanProblem, schedule: ScanSchedule, right: str, planted: str) -> None:
    check_caught(problem, program(problem, schedule), right, planted)


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
    combined = "combine(Number a, Number b) { return a + b; }"
    half = "combine(Number a, Number b) { return to_float(from_float<float16>(a + b)); }"
    check_caught(problem, program(problem, TINY), combined, half, seeds=(0,), said="wrong")


@pytest.mark.parametrize("method", METHODS)
def test_block_scans_without_barriers_are_caught(method: str) -> None:
    problem = ScanProblem(1, 600, flags=True)
    check_caught(problem, emit_block_scans(problem, method), "    __syncthreads();\n", "", seeds=(0,), said="race")
