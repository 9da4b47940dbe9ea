"""Which schedules of rows are legal, and what to draw them from, for all operators on rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LEAST_COPY, WIDEST_ACCESS
from autotune.codegen.rows.schedule import RowSchedule, RowStorage
from autotune.search_spaces.contract.space import Draw, Space, Value, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE, footprint_violations

S = TypeVar("S", bound=RowSchedule)

_MOST_ROUNDS = 64  # most rounds of a row in registers: unrolled, each is a load and several computations
_CLUSTERED_COLUMNS = 2048  # from which on blocks may share a row; any row has so many threads, too


def row_violations(schedule: RowSchedule, reach: int, element_bytes: int) -> Iterator[str]:
    """What makes a schedule illegal for a matrix beyond its fields and its footprint.

    Args:
        schedule: one whose fields are right.
        reach: `RowSchedule.reach` of its rows.
        element_bytes: of an element that is read.
    """
    threads, of_row = schedule.threads, schedule.threads_per_row
    held, vector_bytes = schedule.hold is not RowStorage.RELOAD, schedule.vector_width * element_bytes
    if of_row > threads:
        yield f"threads_per_row {of_row} over the {threads} threads of a block"
        return
    if schedule.cluster > 1 and of_row != threads:
        yield f"threads_per_row {of_row}: expected all {threads} threads of the blocks of a cluster"
    if vector_bytes > WIDEST_ACCESS:
        yield f"vector_width {schedule.vector_width}: {vector_bytes} bytes over the {WIDEST_ACCESS} of an access"
    if held and schedule.loads_in_flight > 1:
        yield f"loads_in_flight {schedule.loads_in_flight}: expected 1 for rows that are held, whose loads all are"
    if schedule.hold is RowStorage.SHARED and vector_bytes < LEAST_COPY:
        yield f"vector_width {schedule.vector_width}: {vector_bytes} bytes, cp.async copies {LEAST_COPY} or more"
    if schedule.hold is RowStorage.REGISTERS and schedule.rounds(reach) > _MOST_ROUNDS:
        yield f"{schedule.rounds(reach)} vectors of a thread in registers over {_MOST_ROUNDS}"


def place_violations(schedule: RowSchedule, batch_invariant: bool, aligned: int) -> Iterator[str]:
    """Vectors in which rows may begin anywhere, if results may not depend on where: threads take other elements."""
    if batch_invariant and schedule.vector_width > aligned:
        yield (
            f"vector_width {schedule.vector_width} over the {aligned} elements that all rows are aligned for: results "
            "of a batch-invariant problem would depend on where a row is"
        )


def row_space(
    schedule_type: type[S],
    columns: int,
    aligned: int,
    element_bytes: int,
    spec: DeviceSpec,
    *,
    widest: int = WIDEST_ACCESS,
    holds: Sequence[RowStorage] = tuple(RowStorage),
    **own: Sequence[Value],
) -> Space[S]:
    """All fields are drawn. A row that a block cannot hold is read again, and blocks are as many as fit on an SM.

    Args:
        schedule_type: what is drawn.
        columns, aligned: see `RowSchedule.reach`.
        element_bytes: of an element that is read.
        spec: the device.
        widest: bytes of the widest access.
        holds: where rows may wait; those that fit nowhere are read again.
        own: values of an operator's own fields, where it has fewer than they state.
    """
    specs = field_specs(schedule_type)
    vectors = [width for width in specs["vector_width"].values if width * element_bytes <= widest]
    of_row = [count for count in specs["threads_per_row"].values if count < 2 * max(1, columns)]
    clustered = columns >= _CLUSTERED_COLUMNS and spec.compute_capability >= CLUSTERS_SINCE
    clusters = specs["cluster"].values if clustered else (1,)
    parameters = field_parameters(
        schedule_type, vector_width=vectors, threads_per_row=of_row, cluster=clusters, hold=holds, **own
    )

    def build(draw: Draw) -> S:
        drawn = schedule_type.from_dict(draw)
        of_row = drawn.threads if drawn.cluster > 1 else min(drawn.threads_per_row, drawn.threads)
        schedule = replace(drawn, threads_per_row=of_row, min_blocks_per_sm=1)
        reach = schedule.reach(columns, aligned, element_bytes)
        if schedule.hold is not RowStorage.RELOAD and _fits(schedule, reach, element_bytes, spec):
            schedule = replace(schedule, loads_in_flight=1)
        else:
            schedule = replace(schedule, hold=RowStorage.RELOAD)
        most = min(drawn.min_blocks_per_sm, _blocks_that_fit(schedule, reach, element_bytes, spec))
        counts = specs["min_blocks_per_sm"].values
        return replace(schedule, min_blocks_per_sm=max(count for count in counts if count == 1 or count <= most))

    return Space(parameters, build)


def _fits(schedule: RowSchedule, reach: int, element_bytes: int, spec: DeviceSpec) -> bool:
    if schedule.hold is RowStorage.REGISTERS and schedule.rounds(reach) > _MOST_ROUNDS:
        return False
    if schedule.hold is RowStorage.SHARED and schedule.vector_width * element_bytes < LEAST_COPY:
        return False
    return not any(footprint_violations(spec, schedule.row_footprint(reach, element_bytes)))


def _blocks_that_fit(schedule: RowSchedule, reach: int, element_bytes: int, spec: DeviceSpec) -> int:
    footprint = schedule.row_footprint(reach, element_bytes)
    return blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
