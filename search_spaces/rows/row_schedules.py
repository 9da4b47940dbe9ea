"""Which schedules of rows are legal, and what to draw them from, for all operators on rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ...codegen.fields import field_specs
from ...codegen.rows.schedule import Hold, RowSchedule
from ..device_spec import DeviceSpec
from ..occupancy import blocks_per_sm
from ..resources import CLUSTERS_SINCE, footprint_violations
from ..space import Draw, Space, field_parameters

S = TypeVar("S", bound=RowSchedule)

_GRID_BLOCKS = 2**31 - 1
_MOST_ROUNDS = 64  # of a row in registers: unrolled, each is a load and several computations
_CLUSTERED_COLUMNS = 2048  # from which on blocks may share a row; any row has so many threads, too


def row_violations(schedule: RowSchedule, rows: int, columns: int, widths: Sequence[int]) -> Iterator[str]:
    """What makes a schedule illegal for a matrix beyond its fields and its footprint.

    Args:
        schedule: one whose fields are right.
        rows, columns: of the matrix.
        widths: elements of the widest accesses that the matrices read and written are aligned for.
    """
    threads, of_row = schedule.threads, schedule.threads_per_row
    if of_row > threads:
        yield f"threads_per_row {of_row} over the {threads} threads of a block"
        return
    if schedule.cluster > 1 and of_row != threads:
        yield f"threads_per_row {of_row}: expected all {threads} threads of the blocks of a cluster"
    if schedule.vector_width > min(widths):
        yield f"vector_width {schedule.vector_width} over the {min(widths)} elements that rows are aligned for"
    if schedule.hold is Hold.REGISTERS:
        if schedule.loads_in_flight > 1:
            yield f"loads_in_flight {schedule.loads_in_flight}: expected 1 for rows in registers, whose loads all are"
        if schedule.rounds(columns) > _MOST_ROUNDS:
            yield f"{schedule.rounds(columns)} vectors of a thread in registers over {_MOST_ROUNDS}"
    if schedule.blocks(rows) > _GRID_BLOCKS:
        yield f"{schedule.blocks(rows)} blocks over the {_GRID_BLOCKS} of a grid"


def row_space(
    schedule_type: type[S], columns: int, element_bytes: int, widths: Sequence[int], spec: DeviceSpec
) -> Space[S]:
    """All fields are drawn. A row that a block cannot hold is read again, and blocks are as many as fit on an SM."""
    specs = field_specs(schedule_type)
    vectors = [width for width in specs["vector_width"].values if width <= min(widths)]
    of_row = [count for count in specs["threads_per_row"].values if count < 2 * max(1, columns)]
    clustered = columns >= _CLUSTERED_COLUMNS and spec.compute_capability >= CLUSTERS_SINCE
    clusters = specs["cluster"].values if clustered else (1,)
    parameters = field_parameters(schedule_type, vector_width=vectors, threads_per_row=of_row, cluster=clusters)

    def build(draw: Draw) -> S:
        drawn = schedule_type.from_dict(draw)
        of_row = drawn.threads if drawn.cluster > 1 else min(drawn.threads_per_row, drawn.threads)
        schedule = replace(drawn, threads_per_row=of_row, min_blocks_per_sm=1)
        if schedule.hold is Hold.REGISTERS:
            schedule = replace(schedule, loads_in_flight=1)
        if not _fits(schedule, columns, element_bytes, spec):
            schedule = replace(schedule, hold=Hold.RELOAD, loads_in_flight=drawn.loads_in_flight)
        most = min(drawn.min_blocks_per_sm, _blocks_that_fit(schedule, columns, element_bytes, spec))
        counts = specs["min_blocks_per_sm"].values
        return replace(schedule, min_blocks_per_sm=max(count for count in counts if count == 1 or count <= most))

    return Space(parameters, build)


def _fits(schedule: RowSchedule, columns: int, element_bytes: int, spec: DeviceSpec) -> bool:
    if schedule.hold is Hold.REGISTERS and schedule.rounds(columns) > _MOST_ROUNDS:
        return False
    return not any(footprint_violations(spec, schedule.row_footprint(columns, element_bytes)))


def _blocks_that_fit(schedule: RowSchedule, columns: int, element_bytes: int, spec: DeviceSpec) -> int:
    footprint = schedule.row_footprint(columns, element_bytes)
    return blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
