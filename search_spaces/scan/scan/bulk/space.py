"""scan: schedules by blocks that stay, whose results leave in bulk: which are legal, drawn and tried first."""

from __future__ import annotations

from autotune.codegen.scan.scan.bulk.schedule import BulkSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.scan.scan import staying
from autotune.search_spaces.scan.scan.vectors import within_registers

# Threads, vectors of each, stages and blocks on each SM: what fits shared memory, with flags beside the elements or
# without.
_TRIED = (
    (512, 9, 3, 1),
    (512, 7, 4, 1),
    (256, 15, 3, 1),
    (512, 7, 3, 1),
    (256, 9, 3, 2),
    (256, 7, 3, 2),
    (128, 9, 3, 3),
)


def _operands(problem: ScanProblem) -> tuple[str, ...]:
    """What bulk copies load or store."""
    return ("x", "y", "flags") if problem.flags else ("x", "y")


def constraints(problem: ScanProblem, schedule: BulkSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    return list(staying.violations(problem, schedule, spec, _operands(problem)))


def applies(problem: ScanProblem, spec: DeviceSpec) -> bool:
    """Whether such a schedule may be legal."""
    return staying.applies(problem, spec, _operands(problem))


def space(problem: ScanProblem, spec: DeviceSpec) -> Space[BulkSchedule]:
    """See `staying.space`."""
    return staying.space(problem, spec, BulkSchedule, lambda one: _fitted(problem, one))


def candidates(problem: ScanProblem, spec: DeviceSpec) -> list[BulkSchedule]:
    """Those that were the fastest of many on an H200."""
    return [
        _fitted(problem, BulkSchedule(threads, problem.widest, rounds, stages, blocks * spec.sm_count))
        for threads, rounds, stages, blocks in _TRIED
    ]


def _fitted(problem: ScanProblem, schedule: BulkSchedule) -> BulkSchedule:
    """Odd rounds put vectors of neighbouring threads in different banks."""
    return within_registers(problem, schedule, odd=True)
