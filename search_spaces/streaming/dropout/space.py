"""dropout: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import round_up
from autotune.codegen.streaming.dropout.problem import DropoutProblem, Mask
from autotune.codegen.streaming.dropout.schedule import DropoutSchedule
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks

_VECTOR_WIDTHS = field_specs(DropoutSchedule)["vector_width"].values
_MIN_BLOCKS = field_specs(DropoutSchedule)["min_blocks_per_sm"].values
_MOST_COUNTED = 2**34  # elements: a word of the counter for each four
_FEW_BLOCKS = 4  # of an SM: up to so many, narrower vectors are tried
_MOST_BYTES_OF_THREAD = 128  # bytes of x, all of whose loads are in flight


def constraints(problem: DropoutProblem, schedule: DropoutSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.vector_width > problem.widest:
        yield f"vector_width {schedule.vector_width} over the {problem.widest} elements of aligned accesses"
    if schedule.counter_words == 1 and problem.elements > _MOST_COUNTED:
        yield f"counter_words 1: expected 2 for {problem.elements} elements, which are more than {_MOST_COUNTED}"


def space(problem: DropoutProblem, spec: DeviceSpec) -> Space[DropoutSchedule]:
    """All fields are drawn, and those that do not go together are changed until they do."""
    widths = tuple(width for width in _VECTOR_WIDTHS if width <= problem.widest)
    words = (1, 2) if problem.elements <= _MOST_COUNTED else (2,)
    parameters = field_parameters(DropoutSchedule, vector_width=widths, counter_words=words)

    def build(draw: Draw) -> DropoutSchedule:
        return _fitted(problem, DropoutSchedule.from_dict(draw), spec)

    return Space(parameters, build)


def _fitted(problem: DropoutProblem, schedule: DropoutSchedule, spec: DeviceSpec) -> DropoutSchedule:
    """The schedule with no more loads in flight than registers hold, and with as many blocks on an SM as fit."""
    most = max(1, _MOST_BYTES_OF_THREAD // (schedule.vector_width * problem.dtype.bytes))
    schedule = replace(schedule, items=min(schedule.items, most))
    return replace(schedule, min_blocks_per_sm=fitting_blocks(schedule.footprint(problem), spec, _MIN_BLOCKS))


def default(problem: DropoutProblem, spec: DeviceSpec) -> DropoutSchedule:
    """The widest accesses, and what was the fastest most often."""
    width = min(problem.widest, WIDEST_ACCESS // problem.dtype.bytes)
    words = 1 if problem.elements <= _MOST_COUNTED else 2
    wanted = DropoutSchedule(128, width, 4, counter_words=words, min_blocks_per_sm=_MIN_BLOCKS[-1])
    return _fitted(problem, wanted, spec)


def candidates(problem: DropoutProblem, spec: DeviceSpec) -> Iterator[DropoutSchedule]:
    """More and fewer loads in flight than the default's; then other counters and accesses."""
    usual = default(problem, spec)
    for threads, items in ((128, 4), (128, 2), (256, 2)):
        schedule = _fitted(problem, replace(usual, threads=threads, items=items), spec)
        yield from (schedule, schedule.shape_specialized)
    for threads, items in ((128, 8), (256, 1)):  # for any shape, ptxas spills more
        yield _fitted(problem, replace(usual, threads=threads, items=items), spec).shape_specialized
    yield replace(usual, counter_words=2)
    yield replace(usual, streaming=True)
    for width in (4, 2):  # more blocks of few elements
        narrow = _fitted(problem, replace(usual, threads=256, vector_width=width, items=1), spec)
        if width < usual.vector_width and narrow.blocks(problem) <= _FEW_BLOCKS * spec.sm_count:
            yield narrow


def checks(problem: DropoutProblem, schedule: DropoutSchedule) -> list[tuple[DropoutProblem, DropoutSchedule]]:
    """Two tiles of whole vectors; and edges, no better aligned than needed, of rows with gaps if the problem's have."""
    width = schedule.vector_width
    whole = replace(problem, rows=1, columns=round_up(2 * schedule.tile * width, 8), ldx=0, ldy=0, ldr=0)
    rows, columns = (3, schedule.tile * width // 2 + 1) if problem.rows > 1 else (1, schedule.tile * width + 1)
    if problem.mask is Mask.BITS and not problem.dense:
        columns = round_up(columns, 8)
    gap = 0 if problem.dense else width
    leading = round_up(columns, width) + gap if gap else 0
    align = width * problem.dtype.bytes
    edges = replace(
        problem,
        rows=rows,
        columns=columns,
        ldx=leading,
        ldy=leading,
        ldr=leading,
        align_x=align,
        align_y=align,
        align_r=align,
    )
    return [(whole, schedule), (edges, schedule)]
