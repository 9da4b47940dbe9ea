"""What is known of a schedule before it is compiled: its modelled time, and what its launch is like."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import Any, NamedTuple

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.time_model import program_seconds

_OCTAVES = 8  # that count as one parameter from end to end; in the recorded spaces sizes span 3 to 9
_LITTLE = 1024  # bytes of shared memory: fewer count as none


class LaunchShape(NamedTuple):
    """What several parameters decide together about a program's first launch.

    Sizes are logarithms, whose differences are from 0 to about 1 as a parameter's.

    Attributes:
        blocks: in the grid.
        threads: in a block.
        shared: memory of a block.
        resident: blocks on an SM.
        filled: used share of the slots for resident blocks, over all waves.
    """

    blocks: float
    threads: float
    shared: float
    resident: float
    filled: float


@dataclass(frozen=True)
class Forecast:
    """What is known of a schedule before it is compiled.

    Attributes:
        seconds: by the time model.
        shape: of the launch.
    """

    seconds: float
    shape: LaunchShape


def forecast(operator: Operator[Any, Any], problem: Problem, schedule: Schedule, spec: DeviceSpec) -> Forecast:
    """Of a legal schedule."""
    launches = operator.workload(problem, schedule, spec)
    work = launches[0]
    resident = resident_blocks(work.footprint, spec)
    waves = work.blocks / (spec.sm_count * resident)
    shape = LaunchShape(
        blocks=_octaves(max(1, work.blocks)),
        threads=_octaves(work.footprint.threads),
        shared=_octaves(_LITTLE + work.footprint.shared_bytes),
        resident=_octaves(resident),
        filled=waves / max(1, ceil(waves)),
    )
    return Forecast(program_seconds(launches, spec), shape)


def _octaves(size: float) -> float:
    return log2(size) / _OCTAVES
