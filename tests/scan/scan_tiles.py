"""Schedules of small tiles, and a row of several of them."""

from scan_cases import SPEC

from autotune.codegen.model.program import Program
from autotune.codegen.scan.scan.look_back.schedule import LookBackSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.search_spaces.scan.scan import OPERATOR

# Tiles of 32 elements: a group is 1024 of them, a section 32768.
TINY = LookBackSchedule(32, 1, 1)
SHARED = LookBackSchedule(64, 4, 2)
IN_TURN = RowsSchedule(64, 64, 4, 2)
COLUMNS = 3 * 512 + 131


def program(problem: ScanProblem, schedule: ScanSchedule) -> Program:
    return OPERATOR.program(problem, schedule, SPEC)
