"""Schedules of one problem measured in turns, so that a clock that drifts meets all."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from statistics import median
from typing import Any

from autotune.base.confidence import Interval, ratio_interval
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.compiler import CompiledKernel
from autotune.devices.base import Device, Session
from autotune.search_spaces.contract.operator import Operator

ROUNDS = 8

Kernel = tuple[Schedule, Program, CompiledKernel]
Times = dict[Schedule, tuple[float, ...]]  # seconds, of each round


def compiled(
    operator: Operator[Any, Any], problem: Problem, device: Device, pool: CompilePool, schedule: Schedule
) -> Kernel:
    """A schedule's kernel."""
    program = operator.program(problem, schedule, device.spec)
    return schedule, program, pool.submit(program, device.spec.arch).result()


def measured(session: Session, kernel: Kernel) -> float:
    """The median of an evaluation, in seconds; a kernel that fails ends the program."""
    found = session.evaluate(*kernel)
    if found.seconds is None:
        sys.exit(f"{kernel[0]}: {found.status}: {found.error}")
    return found.seconds


def side_by_side(
    operator: Operator[Any, Any], problem: Problem, device: Device, pool: CompilePool, schedules: Iterable[Schedule]
) -> Times:
    """The times of schedules that are measured in turns, each once for all that are equal."""
    kernels = [compiled(operator, problem, device, pool, one) for one in dict.fromkeys(schedules)]
    with device.session(operator, problem, seed=0) as session:
        rounds = [[measured(session, kernel) for kernel in kernels] for _ in range(ROUNDS)]
    return dict(zip([kernel[0] for kernel in kernels], zip(*rounds, strict=True), strict=True))


def fastest(times: Times) -> Schedule:
    """The schedule with the shortest median."""
    return min(times, key=lambda one: median(times[one]))


def over(times: Times, schedule: Schedule, other: Schedule) -> Interval:
    """How many times as long as another a schedule takes; the bounds are 99 % sure."""
    return ratio_interval(times[schedule], times[other], 0.99)


def shown(ratio: Interval) -> str:
    """A ratio and its bounds."""
    return f"{ratio.middle:.4f} ({ratio.low:.4f} to {ratio.high:.4f})"
