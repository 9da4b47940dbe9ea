"""What the blocks of a map's schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.hardware import LINE_BYTES, WARP, WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.codegen.streaming.map.schedule import MapSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.stored_parts import times_stored
from autotune.search_spaces.machine.time_model import MachineCosts
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(Coefficients, section="map"):
    """What the instructions of a map take.

    Attributes:
        operation: instructions of an operation in FP32: two are often one.
        access: instructions of an access with its address and its bounds.
        tile: instructions of a thread that begins a tile.
        part: more for each element of a vector that may be partly there, or not aligned.
        wait: of loads that a thread waits for one after the other, each but the first, as a share of their latency.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    operation: float
    access: float
    tile: float
    part: float
    wait: float
    dependent: float


def workload(problem: MapProblem, schedule: MapSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its vectors, computes and stores, once or tile after tile."""
    costs = Costs.of(spec)
    work = problem.work
    tiles, blocks = schedule.tiles(problem), schedule.blocks(problem)
    vectors = schedule.threads // WARP * schedule.items  # vectors of a tile, counted for each warp
    width, results = schedule.vector_width, max(1, problem.rows * problem.columns)
    filled = min(1.0, results / max(1, tiles * vectors * WARP * width))
    loaded, stored = _accesses(problem, schedule, of_results=False), _accesses(problem, schedule, of_results=True)
    operations = costs.operation * work.count(Unit.FP32) / results + work.count(Unit.SPECIAL) / results
    of_vector = width * (operations + _conversions(problem)) + costs.access * stored
    apart, stored_again = _apart(problem, schedule, spec)
    of_vector += apart
    read = schedule.item_bytes(problem) * WARP
    written = max(0.0, width * WARP * work.bytes / results - read)
    latency = MachineCosts.of(spec).latency_seconds * spec.clock_hz
    grid = Workload(
        blocks=blocks,
        footprint=schedule.footprint(problem),
        memory_bytes=work.bytes,
        steps=ceil_div(tiles, max(1, blocks)),
        instructions=vectors * of_vector + schedule.threads // WARP * costs.tile,
        load_instructions=vectors * costs.access * loaded,
        in_turn=True,
        independent=True,
        dependent=costs.dependent,
        unit_clocks=vectors * width * WARP * work.count(Unit.SPECIAL) / results / spec.rate(Unit.SPECIAL),
        outside_clocks=costs.wait * (_waits(problem, schedule) - 1) * latency,
        lines=filled * vectors * (read + written) / LINE_BYTES * _spread(problem, schedule),
        bytes_loaded=filled * vectors * read,
        bytes_stored=filled * vectors * (written + stored_again) * tiles / max(1, blocks),
    )
    return (grid,)


def _waits(problem: MapProblem, schedule: MapSchedule) -> int:
    """Loads of a tile that a thread waits for one after the other.

    Elements of less than a word that are loaded one by one are put together before the next vector is loaded.
    """
    if not schedule.skewed(problem):
        return 1
    apart = problem.collapsed.apart(schedule.vector_width)
    narrow = [operand for operand in apart if operand != "y" and problem.element_bytes_of(operand) < WORD_BYTES]
    return max(1, schedule.items * len(narrow))


def _apart(problem: MapProblem, schedule: MapSchedule, spec: DeviceSpec) -> tuple[float, float]:
    """Instructions and bytes stored that a warp's vectors take more, of arrays that are not aligned where y is."""
    if not schedule.skewed(problem):
        return 0.0, 0.0
    costs, whole, width = Costs.of(spec), problem.collapsed, schedule.vector_width
    apart, size = whole.apart(width), problem.element_bytes_of("y")
    stored = apart.count("y") * width * WARP * size * (times_stored(width, size, spec) - 1)
    return costs.part * width * (len(apart) + min(1.0, width / max(1, whole.columns))), stored


def _accesses(problem: MapProblem, schedule: MapSchedule, of_results: bool) -> int:
    """Accesses that move a vector of each array that is read, or of the results."""
    moved = 0
    for operand, (rows, columns) in problem.stored.items():
        if (operand == "y") is of_results:
            several = max(1, ceil_div(rows * columns, max(1, problem.rows * problem.columns)))
            moved += ceil_div(several * schedule.vector_width * problem.element_bytes_of(operand), WIDEST_ACCESS)
    return moved


def _conversions(problem: MapProblem) -> float:
    """Instructions that convert the elements of all arrays for one result."""
    return sum(float(problem.element_bytes_of(operand) < WORD_BYTES) for operand in problem.stored)


def _spread(problem: MapProblem, schedule: MapSchedule) -> float:
    """How often a line is touched where an element takes several accesses."""
    widest = max(problem.element_bytes_of(operand) for operand in problem.stored)
    return max(1.0, schedule.vector_width * widest / WIDEST_ACCESS)
