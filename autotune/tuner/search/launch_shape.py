"""What is known of a schedule before it is compiled: its modelled time, and what its launch is like."""

from __future__ import annotations

from math import ceil, log2
from typing import Any, NamedTuple

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

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


class Expected(NamedTuple):
    """What is expected of a schedule before it is compiled.

    Attributes:
        seconds: by the time model.
        shape: of the launch.
    """

    seconds: float
    shape: LaunchShape


def expected(operator: Operator[Any, Any], problem: Problem, schedule: Schedule, spec: DeviceSpec) -> Expected:
    """Of a legal schedule."""
    known = operator.forecast(problem, schedule, spec)
    waves = known.blocks / (spec.sm_count * known.resident)
    shape = LaunchShape(
        blocks=_octaves(max(1, known.blocks)),
        threads=_octaves(known.footprint.threads),
        shared=_octaves(_LITTLE + known.footprint.shared_bytes),
        resident=_octaves(known.resident),
        filled=waves / max(1, ceil(waves)),
    )
    return Expected(known.seconds, shape)


def _octaves(size: float) -> float:
    return log2(size) / _OCTAVES
