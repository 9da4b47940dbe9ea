"""What the blocks of a dropout schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.streaming.dropout.problem import DropoutProblem
from autotune.codegen.streaming.dropout.schedule import DropoutSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import most_registers, resident_blocks
from autotune.search_spaces.machine.workload import Workload

# Fitted to 1156 times of 20 problems on an H200. Instructions: of the ten rounds for four elements, two products and
# two exclusive ors each, with their keys; of an element, to compare, select, multiply and convert; of an access with
# its address; of a place in rows; of a thread; of a register that is spilled. And clocks from an instruction of a warp
# to the next, with which fewer warps of a scheduler leave it idle.
_QUAD, _ELEMENT, _ACCESS, _PLACE, _THREAD, _SPILLED = 56, 1.1, 13, 68, 37, 5.5
_DEPENDENT = 2.1
_STREAMING = 0.01  # more time of device memory
# Registers that ptxas takes if nothing caps them: of a thread, and of each element, since it works on several at once.
_OWN_REGISTERS, _ELEMENT_REGISTERS = 12, 1.6
_LEAST_ELEMENT_REGISTERS = 1.1  # with which it spills nothing


def workload(problem: DropoutProblem, schedule: DropoutSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads a tile at once, computes and stores it."""
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    vectors = warps * schedule.items
    arrays = 1 + problem.residual
    quads = ceil_div(width, 4)
    of_vector = quads * _QUAD + width * (_ELEMENT + problem.bias + problem.residual) + _ACCESS
    place = _PLACE if schedule.by_rows(problem) else 1
    tile_bytes = vectors * WARP * width * size
    lines = WARP * width * size / LINE_BYTES
    footprint = _footprint(problem, schedule)
    least = _OWN_REGISTERS + schedule.items * (schedule.loaded_words(problem) + _LEAST_ELEMENT_REGISTERS * width)
    spilled = max(0.0, least - most_registers(spec, schedule.threads, schedule.min_blocks_per_sm))
    computing = vectors * of_vector + warps * (_THREAD + _SPILLED * spilled)
    blocks = schedule.blocks(problem)
    together = max(1, min(resident_blocks(footprint, spec), ceil_div(blocks, spec.sm_count)))
    idle = max(1.0, _DEPENDENT * SCHEDULERS / (together * warps))
    grid = Workload(
        blocks=blocks,
        footprint=footprint,
        memory_bytes=(1 + _STREAMING * schedule.streaming) * problem.work.bytes,
        steps=1,
        instructions=idle * computing,
        load_instructions=vectors * (arrays * _ACCESS + place),
        lines=vectors * (arrays + 1) * max(1.0, lines),
        bytes_loaded=arrays * tile_bytes,
        bytes_stored=tile_bytes + vectors * WARP * width * problem.mask_bytes / max(1, problem.elements),
    )
    return (grid,)


def _footprint(problem: DropoutProblem, schedule: DropoutSchedule) -> Footprint:
    footprint = schedule.footprint(problem)
    of_item = schedule.loaded_words(problem) + _ELEMENT_REGISTERS * schedule.vector_width
    return replace(footprint, registers=max(footprint.registers, floor(_OWN_REGISTERS + schedule.items * of_item)))
