"""scan: schedules by blocks that stay: which are legal, drawn and tried first."""

from __future__ import annotations

from autotune.codegen.scan.scan.pipelined.schedule import PipelinedSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.scan.scan import staying
from autotune.search_spaces.scan.scan.vectors import within_registers

# Threads, vectors of each, stages and blocks on each SM: of 19 tried, those that were the fastest at 2^20, 2^24 or 2^28
# elements of 4 bytes.
_TRIED = (
    (512, 9, 3, 1),
    (512, 8, 3, 1),
    (256, 17, 3, 1),
    (256, 16, 3, 1),
    (128, 16, 2, 3),
    (256, 8, 3, 2),
    (512, 4, 3, 2),
    (256, 4, 3, 3),
)


def constraints(problem: ScanProblem, schedule: PipelinedSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    in_order = [] if _in_order(problem) else ["pipelined takes neither segments nor reverse scans"]
    return [*in_order, *staying.violations(problem, schedule, spec, ("x",))]


def _in_order(problem: ScanProblem) -> bool:
    """Whether all elements of a row are scanned together, from the first to the last."""
    return not problem.segmented and not problem.reverse


def applies(problem: ScanProblem, spec: DeviceSpec) -> bool:
    """Whether such a schedule may be legal."""
    return _in_order(problem) and staying.applies(problem, spec, ("x",))


def space(problem: ScanProblem, spec: DeviceSpec) -> Space[PipelinedSchedule]:
    """See `staying.space`."""
    return staying.space(problem, spec, PipelinedSchedule, lambda one: within_registers(problem, one))


def candidates(problem: ScanProblem, spec: DeviceSpec) -> list[PipelinedSchedule]:
    """Those that were the fastest of many on an H200."""
    return [
        within_registers(problem, PipelinedSchedule(threads, problem.widest, rounds, stages, blocks * spec.sm_count))
        for threads, rounds, stages, blocks in _TRIED
    ]
