"""map: which schedules are legal, and which to draw from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....codegen.fields import field_specs
from ....codegen.matrices import WIDEST_ACCESS
from ....codegen.streaming.map.presets import of_row
from ....codegen.streaming.map.problem import MapProblem
from ....codegen.streaming.map.schedule import LoadPolicy, MapSchedule, Transport
from ...device_spec import DeviceSpec
from ...occupancy import blocks_per_sm
from ...resources import BULK_COPIES_SINCE, grid_violations
from ...space import Draw, Space, Value, field_parameters

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
    if schedule.transport is Transport.BULK:
        yield from _bulk_violations(problem, schedule, spec)
    elif schedule.stages > 1:
        yield f"stages {schedule.stages}: expected 1 for what is loaded to registers"
    yield from grid_violations(schedule.blocks(problem))


def _bulk_violations(problem: MapProblem, schedule: MapSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What keeps tiles from being copied to shared memory."""
    if spec.compute_capability < BULK_COPIES_SINCE:
        yield f"bulk copies need sm_90 or newer, not {spec.arch}"
    if not problem.collapsed.copies_in_bulk:
        yield "bulk copies need one row without a bias, of arrays that begin at multiples of 16 bytes"
    if schedule.stages < 2 or not schedule.grid_blocks:
        yield f"stages {schedule.stages}, grid_blocks {schedule.grid_blocks}: expected 2 stages and 1 block at least"


def widest_vector(problem: MapProblem) -> int:
    """Results of a vector, of whose accesses none has more than 16 bytes but those to wider elements."""
    return WIDEST_ACCESS // min(problem.element_bytes_of(operand) for operand in problem.stored)


def space(problem: MapProblem, spec: DeviceSpec) -> Space[MapSchedule]:
    """All fields are drawn, and those that do not go together are lowered until they do."""
    specs, whole = field_specs(MapSchedule), problem.collapsed
    most = 2 * of_row(whole.columns)  # threads of a row
    of_one = specs["threads"].values if whole.rows == 1 else specs["threads_per_row"].values
    bulk = whole.copies_in_bulk and spec.compute_capability >= BULK_COPIES_SINCE
    only_direct: dict[str, tuple[Value, ...]] = {} if bulk else {"transport": (Transport.DIRECT,), "stages": (1,)}
    parameters = field_parameters(
        MapSchedule,
        threads_per_row=of_one if whole.rows == 1 else [count for count in of_one if count <= most],
        vector_width=[width for width in specs["vector_width"].values if width <= widest_vector(problem)],
        grid_blocks=(0, *(spec.sm_count * count for count in PERSISTENT)),
        **only_direct,
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
    wanted = _staged(problem, wanted, spec)
    registers = min(wanted.footprint(problem).registers + _SPARE_REGISTERS, spec.registers_per_thread)
    most = max(
        1, min(schedule.min_blocks_per_sm, blocks_per_sm(spec, wanted.threads, registers, wanted.shared_bytes(problem)))
    )
    counts = specs["min_blocks_per_sm"].values
    return replace(wanted, min_blocks_per_sm=max(count for count in counts if count <= most))


def _staged(problem: MapProblem, schedule: MapSchedule, spec: DeviceSpec) -> MapSchedule:
    """The schedule with as many stages as shared memory holds, in a grid that stays; without bulk copies, with one."""
    direct = replace(schedule, transport=Transport.DIRECT, stages=1)
    if schedule.transport is Transport.DIRECT:
        return direct
    blocks = schedule.grid_blocks or PERSISTENT[0] * spec.sm_count
    bulk = replace(schedule, stages=max(2, schedule.stages), grid_blocks=blocks, load_policy=LoadPolicy.CACHED)
    while bulk.stages > 2 and bulk.shared_bytes(problem) > spec.shared_per_block:
        bulk = replace(bulk, stages=bulk.stages - 1)
    refused = bulk.shared_bytes(problem) > spec.shared_per_block or any(_bulk_violations(problem, bulk, spec))
    return direct if refused else bulk
