"""scan: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import look_back, rows
from .look_back.space import tile
from .rows.space import MOST_LANES
from .rows.space import rows as of_rows

_FEW_TILES = 4  # tiles of a block that one block scans in turn before several share a row


def default(problem: ScanProblem, spec: DeviceSpec) -> ScanSchedule:
    """Look-back over long rows, and otherwise a few vectors of a row for each of its threads."""
    return tile(problem, 256, 4) if _shares_rows(problem, spec) else of_rows(problem, 4)


def _shares_rows(problem: ScanProblem, spec: DeviceSpec) -> bool:
    """Whether rows are too long for a block, or too few for a device."""
    if not rows.KERNEL.applies(problem, spec) or not look_back.KERNEL.applies(problem, spec):
        return not rows.KERNEL.applies(problem, spec)
    return problem.rows < spec.sm_count and problem.columns > _FEW_TILES * MOST_LANES * problem.widest
