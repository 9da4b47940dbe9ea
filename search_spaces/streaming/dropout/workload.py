"""What the blocks of a dropout schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.streaming.dropout.problem import DropoutProblem
from autotune.codegen.streaming.dropout.schedule import DropoutSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import most_registers
from autotune.search_spaces.machine.workload import Workload

_OWN_REGISTERS, _ELEMENT_REGISTERS = 12, 1.1  # of a thread and of each element, with which it spills nothing


@dataclass(frozen=True)
class Costs(Coefficients, section="dropout"):
    """What the instructions of a dropout take.

    Attributes:
        quad: instructions of the ten rounds for four elements, two products and two exclusive ors each, with their
            keys.
        element: instructions of an element, to compare, select, multiply and convert.
        access: instructions of an access with its address.
        place: instructions of a place in rows.
        thread: instructions of a thread.
        spilled: instructions of a register that is spilled.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
        streaming: more time of device memory for streaming hints.
    """

    quad: float
    element: float
    access: float
    place: float
    thread: float
    spilled: float
    dependent: float
    streaming: float


def workload(problem: DropoutProblem, schedule: DropoutSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads a tile at once, computes and stores it."""
    costs = Costs.of(spec)
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    vectors = warps * schedule.items
    arrays = 1 + problem.residual
    quads = ceil_div(width, 4)
    of_vector = quads * costs.quad + width * (costs.element + problem.bias + problem.residual) + costs.access
    place = costs.place if schedule.by_rows(problem) else 1
    tile_bytes = vectors * WARP * width * size
    lines = WARP * width * size / LINE_BYTES
    footprint = schedule.footprint(problem)
    least = _OWN_REGISTERS + schedule.items * (schedule.loaded_words(problem) + _ELEMENT_REGISTERS * width)
    spilled = max(0.0, least - most_registers(spec, schedule.threads, schedule.min_blocks_per_sm))
    computing = vectors * of_vector + warps * (costs.thread + costs.spilled * spilled)
    blocks = schedule.blocks(problem)
    grid = Workload(
        blocks=blocks,
        footprint=footprint,
        memory_bytes=(1 + costs.streaming * schedule.streaming) * problem.work.bytes,
        steps=1,
        instructions=computing,
        load_instructions=vectors * (arrays * costs.access + place),
        in_turn=True,
        independent=True,
        dependent=costs.dependent,
        lines=vectors * (arrays + 1) * max(1.0, lines),
        bytes_loaded=arrays * tile_bytes,
        bytes_stored=tile_bytes + vectors * WARP * width * problem.mask_bytes / max(1, problem.elements),
    )
    return (grid,)
