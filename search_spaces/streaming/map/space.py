"""map: which schedules are legal, and which to draw from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.streaming.map.presets import of_row
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.codegen.streaming.map.schedule import MapSchedule
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm

MOST_WORDS = 64  # registers that a thread loads before it computes
_SPARE_REGISTERS = 12  # beyond the footprint, with which ptxas spills nothing
PERSISTENT = (2, 4, 8)  # blocks of an SM that take tiles in turn


def constraints(problem: MapProblem, schedule: MapSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    threads, of_one, whole = schedule.threads, schedule.threads_per_row, problem.collapsed
    if of_one > threads:
        yield f"threads_per_row {of_one} over the {threads} threads of a block"
        return
    if whole.rows == 1 and of_one != threads:
        yield f"threads_per_row {of_one}: expected all {threads} threads for one row"
    widest = widest_vector(problem)
    if schedule.vector_width > widest:
        yield f"vector_width {schedule.vector_width} over {widest}, whose elements have {WIDEST_ACCESS} bytes"
    words = schedule.items * schedule.item_bytes(problem) // 4
    if schedule.items > 1 and words > MOST_WORDS:
        yield f"items {schedule.items}: {words} words of a thread over {MOST_WORDS}"


def widest_vector(problem: MapProblem) -> int:
    """Results of a vector, of whose accesses none has more than 16 bytes but those to wider elements."""
    return WIDEST_ACCESS // min(problem.element_bytes_of(operand) for operand in problem.stored)


def space(problem: MapProblem, spec: DeviceSpec) -> Space[MapSchedule]:
    """All fields are drawn, and those that do not go together are lowered until they do."""
    specs, whole = field_specs(MapSchedule), problem.collapsed
    most = 2 * of_row(whole.columns)  # threads of a row
    of_one = specs["threads"].values if whole.rows == 1 else specs["threads_per_row"].values
    parameters = field_parameters(
        MapSchedule,
        threads_per_row=of_one if whole.rows == 1 else [count for count in of_one if count <= most],
        vector_width=[width for width in specs["vector_width"].values if width <= widest_vector(problem)],
        grid_blocks=(0, *(spec.sm_count * count for count in PERSISTENT)),
    )

    def build(draw: Draw) -> MapSchedule:
        return fitted(problem, MapSchedule.from_dict(draw), spec)

    return Space(parameters, build)


def fitted(problem: MapProblem, schedule: MapSchedule, spec: DeviceSpec) -> MapSchedule:
    """The schedule with no more threads of a row, items and resident blocks than there is room for."""
    specs = field_specs(MapSchedule)
    of_one = schedule.threads if problem.collapsed.rows == 1 else min(schedule.threads, schedule.threads_per_row)
    wanted = replace(schedule, threads_per_row=of_one)
    while wanted.items > 1 and wanted.items * wanted.item_bytes(problem) // 4 > MOST_WORDS:
        wanted = replace(wanted, items=wanted.items // 2)
    registers = min(wanted.footprint(problem).registers + _SPARE_REGISTERS, spec.registers_per_thread)
    most = max(1, min(schedule.min_blocks_per_sm, blocks_per_sm(spec, wanted.threads, registers, 0)))
    counts = specs["min_blocks_per_sm"].values
    return replace(wanted, min_blocks_per_sm=max(count for count in counts if count <= most))
