"""The records of a device beside its roofline, and the loads that each has in flight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.work import Unit
from autotune.db.trials import Trial
from autotune.search_spaces.contract.known import Known
from autotune.search_spaces.machine.occupancy import occupancy
from autotune.search_spaces.machine.roofline import bounding_unit, operations, roofline

from .machine import Machine
from .resources import compiled_footprint
from .subject import known_as


def kernels(records: Iterable[Trial], machine: Machine) -> list[dict[str, Any]]:
    """Each record that this version knows, as JSON values.

    Returns:
        ``operator``, ``problem``, ``time_source``, ``micros``, ``share`` (of the roofline), ``bound`` (the unit that
        bounds it, empty for device memory), ``bytes`` and ``bytes_per_second``. Null for a problem without arithmetic:
        ``unit``, ``intensity`` (operations of that unit per byte) and ``operations_per_second``. Null where they are
        not known: ``occupancy`` (0 to 1), ``in_flight`` and ``needed`` (bytes of an SM).
    """
    return [_kernel(trial, known, machine) for trial in records if trial.seconds and (known := known_as(trial))]


def _kernel(trial: Trial, known: Known, machine: Machine) -> dict[str, Any]:
    problem, peaks, seconds = known.problem, machine.peaks, trial.seconds or 0.0
    return {
        "operator": known.operator.name,
        "problem": problem.key,
        "time_source": trial.time_source,
        "micros": seconds * 1e6,
        "share": roofline(problem, peaks) / seconds,
        "bound": bound.label if (bound := bounding_unit(problem, peaks)) else "",
        "bytes": problem.work.bytes,
        "bytes_per_second": problem.work.bytes / seconds,
        **_arithmetic(known.problem, machine, seconds),
        **_latency(trial, known, machine),
    }


def _arithmetic(problem: Problem, machine: Machine, seconds: float) -> dict[str, Any]:
    """By the unit that is busy for longest."""
    executed = {unit: count for unit, count in operations(problem.work, machine.peaks).items() if count}
    unit: Unit | None = max(executed, key=lambda one: executed[one] / machine.peaks.peak(one), default=None)
    if unit is None:
        return {"unit": None, "intensity": None, "operations_per_second": None}
    intensity = executed[unit] / problem.work.bytes
    return {"unit": unit.label, "intensity": intensity, "operations_per_second": executed[unit] / seconds}


def _latency(trial: Trial, known: Known, machine: Machine) -> dict[str, Any]:
    """The bytes that an SM has in flight, and those that it needs at the pace of the roofline, by Little's law.

    All loads count with the latency of device memory, those that L2 answers, too.
    """
    schedule = known.schedule(trial.schedule)
    block = compiled_footprint(known, schedule, trial.resources)
    if schedule is None or block is None:
        return {"occupancy": None, "in_flight": None, "needed": None}
    found = occupancy(known.spec, block.threads, block.registers, block.shared_bytes)
    launches = known.operator.workload(known.problem, schedule, known.spec)
    work = max(launches, key=lambda one: one.blocks * one.steps * one.bytes_loaded)
    blocks = min(found.blocks_per_sm, work.blocks / known.spec.sm_count)
    loaded = work.blocks * work.steps * work.bytes_loaded / known.spec.sm_count
    return {
        "occupancy": found.fraction,
        "in_flight": blocks * work.bytes_loaded * max(1, work.in_flight),
        "needed": loaded / roofline(known.problem, machine.peaks) * machine.latency,
    }
