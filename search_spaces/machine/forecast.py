"""What is known of a schedule before it is compiled, computed once for a problem and a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP

from .device_spec import DeviceSpec
from .occupancy import resident_blocks
from .time_model import program_seconds
from .workload import Workload

_KEPT = 10_000  # a choice for gemm asks for some hundred


@dataclass(frozen=True)
class Forecast:
    """What is known of a schedule before it is compiled.

    Attributes:
        footprint, blocks: of the first launch: what a block takes, and how many there are.
        resident: blocks that an SM holds at once.
        seconds: of the program, by the time model.
    """

    footprint: Footprint
    blocks: int
    resident: int
    seconds: float


@lru_cache(maxsize=_KEPT)
def forecast(
    workload: Callable[[Any, Any, DeviceSpec], Sequence[Workload]], problem: Any, schedule: Any, spec: DeviceSpec
) -> Forecast:
    """That of a legal schedule, whose launches a kernel's `workload` counts."""
    launches = workload(problem, schedule, spec)
    first = launches[0] if launches else Workload(0, Footprint(WARP), 0)
    resident = resident_blocks(first.footprint, spec)
    return Forecast(first.footprint, first.blocks, resident, program_seconds(launches, spec))
