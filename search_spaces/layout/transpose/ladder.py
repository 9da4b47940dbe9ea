"""What the blocks of the ladder's rungs do, for where no GPU measures them: all but the first are schedules."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.layout.transpose.emit import NAIVE_THREADS
from autotune.codegen.layout.transpose.presets import SCHEDULES
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LINE_BYTES, SECTOR_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

from .workload import workload

_INSTRUCTIONS = 100  # of a warp: three divisions of 32 bits, by which a thread finds its element, and two addresses


def rungs(problem: TransposeProblem, spec: DeviceSpec) -> Mapping[str, tuple[Workload, ...]]:
    """The launches of each preset."""
    tiled = {name: workload(problem, schedule(problem), spec) for name, schedule in SCHEDULES.items()}
    return {"naive": (_naive(problem),), **tiled}


def _naive(problem: TransposeProblem) -> Workload:
    """A warp loads elements side by side, and stores each to a row of B: a part of a sector, in a line of its own."""
    warps = NAIVE_THREADS // WARP
    lines = ceil_div(WARP * problem.element_bytes, LINE_BYTES)
    return Workload(
        blocks=ceil_div(problem.batch * problem.m * problem.n, NAIVE_THREADS),
        footprint=Footprint(NAIVE_THREADS),
        memory_bytes=problem.work.bytes,
        instructions=warps * _INSTRUCTIONS,
        load_instructions=warps,
        lines=warps * (lines + WARP),
        bytes_loaded=NAIVE_THREADS * problem.element_bytes,
        bytes_stored=NAIVE_THREADS * 2 * SECTOR_BYTES,  # a sector in part is read, too
    )
