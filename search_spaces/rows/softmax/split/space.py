"""softmax of rows that many blocks share: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.split.schedule import SplitSchedule
from autotune.search_spaces.contract.space import Parameter, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.rows.row_checks import row_checks

_CLUSTER = 16  # blocks of the largest cluster, which hold shorter rows
_SHARING, _BUSY = 8, 0.4  # blocks of a cluster that reads long rows again; share of the SMs with one that is enough
_MOST_BLOCKS = 1024  # whose sums each block of a row reads
_BLOCKS_OF_SM = (1, 2, 3, 4, 6, 8)


def applies(problem: SoftmaxProblem, spec: DeviceSpec) -> bool:
    """Whether no cluster holds a row, and clusters that read rows again leave most SMs idle."""
    long = problem.columns * problem.dtype.bytes > _CLUSTER * spec.shared_per_block
    few = 0 < problem.rows * _SHARING < _BUSY * spec.sm_count
    return long and few and not any(_refused(problem))


def constraints(problem: SoftmaxProblem, schedule: SplitSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from _refused(problem)
    vector_bytes = schedule.vector_width * problem.dtype.bytes
    if vector_bytes > WIDEST_ACCESS:
        yield f"vector_width {schedule.vector_width}: {vector_bytes} bytes over the {WIDEST_ACCESS} of an access"
    if schedule.blocks_per_row > _MOST_BLOCKS:
        yield f"blocks_per_row {schedule.blocks_per_row} over the {_MOST_BLOCKS} whose sums a block reads"


def _refused(problem: SoftmaxProblem) -> Iterator[str]:
    if problem.masked or problem.has_mask:
        yield "rows of which a part counts: expected all of it where blocks share them"
    if problem.batch_invariant:
        yield "blocks that share rows: expected no batch-invariant problem, whose rows have a schedule of many"


def space(problem: SoftmaxProblem, spec: DeviceSpec) -> Space[SplitSchedule]:
    """All fields; as many blocks for a row as fill the device so many times."""
    blocks = sorted({max(1, min(number * spec.sm_count // problem.rows, _MOST_BLOCKS)) for number in _BLOCKS_OF_SM})
    widths = [width for width in (1, 2, 4, 8) if width * problem.dtype.bytes <= WIDEST_ACCESS]
    parameters = (
        Parameter("blocks_per_row", tuple(blocks)),
        *field_parameters(SplitSchedule, vector_width=widths),
    )
    return Space(parameters, SplitSchedule.from_dict)


def candidates(problem: SoftmaxProblem, spec: DeviceSpec) -> Iterator[SplitSchedule]:
    """Vectors of 16 bytes, of as many threads as have their loads in flight."""
    width = WIDEST_ACCESS // problem.dtype.bytes
    first = SplitSchedule(threads=512, vector_width=width, loads_in_flight=4, min_blocks_per_sm=2)
    for threads, loads, of_sm in ((512, 4, 2), (512, 4, 4), (512, 8, 2), (256, 8, 4), (256, 4, 8), (1024, 4, 1)):
        blocks = max(1, min(of_sm * spec.sm_count // problem.rows, _MOST_BLOCKS))
        resident = max(1, 1024 // threads)
        schedule = replace(
            first, threads=threads, loads_in_flight=loads, blocks_per_row=blocks, min_blocks_per_sm=resident
        )
        yield schedule
        yield replace(schedule, streaming=True)


def checks(problem: SoftmaxProblem, schedule: SplitSchedule) -> list[tuple[SoftmaxProblem, SplitSchedule]]:
    """Those of a piece (`row_checks`), as rows of three pieces."""
    few = replace(schedule, blocks_per_row=3)
    found = row_checks(problem, schedule.piece)
    return [(replace(check, columns=3 * check.columns, ldx=0, ldy=0), few) for check, _ in found]
