"""Which scan schedules are legal, drawn and tried first, and what they are counted to do."""

from dataclasses import replace

import pytest
from refusals import illegal
from scan_cases import FLOAT16, FLOAT64, SPEC, SUM

from autotune.codegen.scan.scan.look_back.schedule import LookBackSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.search_spaces.scan.scan import OPERATOR

ALL, MATRIX = ScanProblem(1, 1 << 24), ScanProblem(4096, 4096)
PIPELINE = "kernel=pipelined stages=2 grid_blocks=132"
SEGMENTS = ScanProblem(1, 5000, flags=True)
_BYTES_IN_FLIGHT = 32 << 10  # of an SM, to keep an H200's memory busy


test_violations_carry_the_values = illegal(
    OPERATOR,
    {
        ALL: {
            "threads=96": "threads 96: expected a power of two",
            "kernel=rows TPR=512": "threads_per_row 512 over the 256 threads of a block",
            "vector_width=8": "vector_width 8 over the 4 elements of aligned accesses",
            "kernel=pipelined stages=1": "stages 1: expected 2 or more",
            "kernel=pipelined grid_blocks=0": "grid_blocks 0: expected 1 or more",
        },
        MATRIX: {"kernel=rows TPR=2": "threads_per_row 2: expected 4 or more"},
        ScanProblem(2, 1002): {
            "vector_width=4": "vector_width 4 over the 2 elements of aligned accesses",
            PIPELINE: "pipelined copies rows of x that begin at multiples of 16 bytes",
        },
        SEGMENTS: {
            "kernel=rows TPR=64": "segments needs threads_per_row 256, all of a block, not 64",
            PIPELINE: "pipelined takes neither segments nor reverse scans",
        },
        replace(ALL, reverse=True): {PIPELINE: "pipelined takes neither segments nor reverse scans"},
        replace(ALL, align_x=8): {PIPELINE: "pipelined copies rows of x that begin at multiples of 16 bytes"},
        ScanProblem(1, 9999, SUM, FLOAT16): {"threads=1024 rounds=8 vector_width=8": "registers"},
    },
    "look_back",
)


def test_workspace_holds_a_word_of_each_tile_group_and_section():
    schedule = LookBackSchedule(64, 1, 1)
    assert schedule.groups(ScanProblem(1, 64 * 1025)) == (1025, 33, 2)
    assert schedule.workspace_bytes(ScanProblem(1, 64 * 1025)) == 16 + 8 * (1025 + 33 + 2)
    assert schedule.workspace_bytes(ScanProblem(3, 64, SUM, FLOAT64)) == 16 + 3 * 16 * 3
    assert RowsSchedule().workspace_bytes(ALL) == 0


@pytest.mark.parametrize(
    "problem", [ALL, MATRIX, ScanProblem(262144, 256), ScanProblem(32, 1 << 22)], ids=lambda p: p.key
)
def test_first_seeds_keep_memory_busy(problem):
    for schedule in OPERATOR.seeds(problem, SPEC)[:3]:
        footprint = schedule.footprint(problem)
        resident = min(2048 // footprint.threads, 65536 // (footprint.threads * footprint.registers))
        resident = min(resident, 227 * 1024 // max(1, footprint.shared_bytes))
        of_tile = schedule.rounds * schedule.vector_width * problem.dtype.bytes
        assert resident * schedule.stages * schedule.threads * of_tile >= _BYTES_IN_FLIGHT, schedule


@pytest.mark.parametrize(
    ("problem", "kernel"),
    [
        (ALL, "pipelined"),
        (ScanProblem(1, 1 << 30), "pipelined"),
        (ScanProblem(32, 1 << 22), "pipelined"),
        (replace(ALL, reverse=True), "bulk"),
        (replace(ALL, flags=True), "bulk"),
        (replace(ALL, align_x=8), "look_back"),
        (ScanProblem(1, 4096), "rows"),
        (MATRIX, "rows"),
        (ScanProblem(2048, 131072), "rows"),
    ],
    ids=str,
)
def test_long_rows_are_shared_where_there_are_few(problem, kernel):
    assert {seed.kernel for seed in OPERATOR.seeds(problem, SPEC)} >= {kernel}
    assert OPERATOR.default(problem, SPEC).kernel == ("rows" if kernel == "rows" else "look_back")


def test_workload_counts_what_moves():
    shared, turned = LookBackSchedule(256, 4, 4), RowsSchedule(256, 256, 4, 4)
    for schedule, steps in ((shared, 1), (turned, 4096)):
        (counted,) = OPERATOR.workload(ALL, schedule, SPEC)
        assert counted.steps == steps
        assert counted.blocks * counted.steps * counted.bytes_loaded == 4 << 24
        assert counted.blocks * counted.bytes_stored == 4 << 24
    assert OPERATOR.workload(ALL, shared, SPEC)[0].memory_bytes > ALL.work.bytes
    assert OPERATOR.workload(ALL, turned, SPEC)[0].memory_bytes == ALL.work.bytes
