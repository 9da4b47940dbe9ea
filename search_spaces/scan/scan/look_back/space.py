"""scan: schedules by look-back, which are legal, drawn and tried first."""

from __future__ import annotations

from autotune.codegen.model.schedule import Specialize
from autotune.codegen.scan.scan.look_back.schedule import LookBackSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.scan.scan.vectors import width_violations, widths, within_registers

_LEAST_VECTORS = 64  # of a row of several tiles
# Threads of a block and vectors of each; those of CUB for an H100 have 128 threads with 24 elements of 4 bytes
# (tuning_scan.cuh).
_TILES = ((128, 6), (256, 4), (256, 6), (128, 8), (256, 8), (512, 4), (512, 2), (1024, 2))


def constraints(problem: ScanProblem, schedule: LookBackSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    return list(width_violations(schedule, problem.widest))


def applies(problem: ScanProblem, spec: DeviceSpec) -> bool:
    """Whether a row may be several tiles."""
    return problem.columns > _LEAST_VECTORS * problem.widest


def space(problem: ScanProblem, spec: DeviceSpec) -> Space[LookBackSchedule]:
    """All fields are drawn; there are fewer rounds where registers are too few."""

    def build(draw: Draw) -> LookBackSchedule:
        return within_registers(problem, LookBackSchedule.from_dict(draw))

    return Space(field_parameters(LookBackSchedule, vector_width=widths(problem.widest)), build)


def tile(problem: ScanProblem, threads: int, rounds: int) -> LookBackSchedule:
    """The widest vectors for so many threads."""
    return within_registers(problem, LookBackSchedule(threads, problem.widest, rounds))


def candidates(problem: ScanProblem, spec: DeviceSpec) -> list[LookBackSchedule]:
    """Tiles, then what the first ones may gain by other fields."""
    tiles = [tile(problem, threads, rounds) for threads, rounds in _TILES]
    first, second = tiles[:2]
    delayed = [first.replace(delay=350), second.replace(delay=350)]
    return [*tiles, *delayed, first.replace(streaming=True), first.replace(specialize=Specialize.SHAPE)]
