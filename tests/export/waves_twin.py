"""The rule of selector.hpp in Python, in the same order of operations."""

from __future__ import annotations

from math import exp, log, sqrt

from autotune.codegen.integers import ceil_div
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.db.states import TimeSource
from autotune.devices.roofline import roofline
from autotune.dispatcher.choice.records import Record
from autotune.dispatcher.choice.transfer import DOUBT, FARTHEST
from autotune.export.tables import FIXED_SECONDS, HIDING
from autotune.search_spaces.device_spec import DeviceSpec
from autotune.search_spaces.operator import Operator


def selected(
    operator: Operator[SgemmProblem, SgemmSchedule], problem: SgemmProblem, limits: DeviceSpec, known: list[Record]
) -> str | None:
    """The key of the record that serves, None if none is near and legal."""
    ranks = []
    for record in known:
        exact = record.problem.key == problem.key
        ratios = [abs(log(max(1, here) / max(1, there))) for here, there in _sizes(problem, record)]
        near = max(ratios) <= log(FARTHEST) and (exact or not record.own_only)
        if near and not operator.violations(problem, record.schedule, limits):
            squares = 0.0
            for ratio in ratios:
                squares += ratio * ratio
            slowness = log(transferred_seconds(problem, record, limits) / max(roofline(problem, limits), 1e-9))
            modelled = record.time_source is TimeSource.MODELLED
            ranks.append((modelled, not exact, slowness + DOUBT * sqrt(squares), record.problem.key))
    return min(ranks)[-1] if ranks else None


def transferred_seconds(problem: SgemmProblem, record: Record, limits: DeviceSpec) -> float:
    """The record's time: what a launch costs, and the rest by blocks of the fullest SM and their steps."""
    schedule = record.schedule
    here, there = (_blocks(one, schedule, limits) for one in (problem, record.problem))
    longer = _steps(problem, schedule) / max(1, _steps(record.problem, schedule))
    slower = _busy(here, record.registers, limits) / max(1, _busy(there, record.registers, limits))
    fixed_here, fixed_there = (FIXED_SECONDS[_shared(one, schedule)] for one in (problem, record.problem))
    fixed = min(fixed_there, record.seconds)
    return fixed * (fixed_here / fixed_there) + (record.seconds - fixed) * (longer * max(here / max(1, there), slower))


def _sizes(problem: SgemmProblem, record: Record) -> list[tuple[int, int]]:
    return [(getattr(problem, size), getattr(record.problem, size)) for size in "mnk"]


def _blocks(problem: SgemmProblem, schedule: SgemmSchedule, limits: DeviceSpec) -> int:
    return ceil_div(schedule.grid_blocks or schedule.tiles(problem) * schedule.cluster_k, limits.sm_count)


def _steps(problem: SgemmProblem, schedule: SgemmSchedule) -> int:
    along_k, clusters = ceil_div(problem.k, schedule.block_k), schedule.grid_blocks // schedule.cluster_k
    steps = ceil_div(schedule.tiles(problem) * along_k, clusters) if clusters else along_k
    return ceil_div(steps, schedule.cluster_k)


def _shared(problem: SgemmProblem, schedule: SgemmSchedule) -> bool:
    clusters = schedule.grid_blocks // schedule.cluster_k
    return clusters > 0 and schedule.tiles(problem) % clusters != 0


def _busy(blocks: int, registers: int, limits: DeviceSpec) -> float:
    if registers == 0:
        return blocks
    resident = max(1, limits.registers_per_sm // registers)
    waves, rest = divmod(blocks, resident)
    return waves * (resident / _hidden(resident * registers, limits)) + (
        rest / _hidden(rest * registers, limits) if rest else 0.0
    )


def _hidden(registers: int, limits: DeviceSpec) -> float:
    return 1 - exp(-HIDING * registers / limits.registers_per_sm)
