"""rope: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.streaming.rope.problem import RopeProblem
from autotune.codegen.streaming.rope.schedule import RopeSchedule
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks

_SPECS = field_specs(RopeSchedule)
_MOST_THREADS = 1024


def constraints(problem: RopeProblem, schedule: RopeSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.vector_width > problem.widest:
        yield f"vector_width {schedule.vector_width} over the {problem.widest} elements of aligned accesses"
        return
    units = schedule.units(problem)
    if schedule.apart and not _can_be_apart(problem):
        yield f"apart: expected heads of which a part is rotated, not {problem.rotated} of {problem.head_dim} elements"
    if units > schedule.threads:
        yield f"{units} units of a head, of vectors of {schedule.vector_width}, over the {schedule.threads} threads"


def _can_be_apart(problem: RopeProblem) -> bool:
    """Whether heads have elements that are rotated and others that are copied; a head of one element has no pair."""
    return 0 < problem.rotated < problem.head_dim


def space(problem: RopeProblem, spec: DeviceSpec) -> Space[RopeSchedule]:
    """All fields are drawn, and those that do not go together are changed until they do."""
    widths = tuple(width for width in _SPECS["vector_width"].values if width <= problem.widest)
    apart = (False, True) if _can_be_apart(problem) else (False,)
    parameters = field_parameters(RopeSchedule, vector_width=widths, apart=apart)

    def build(draw: Draw) -> RopeSchedule:
        return _fitted(problem, RopeSchedule.from_dict(draw), spec)

    return Space(parameters, build)


def _fitted(problem: RopeProblem, schedule: RopeSchedule, spec: DeviceSpec) -> RopeSchedule:
    """The schedule with as many threads as a head has units, no more heads than there are, and as many blocks on an SM
    as fit."""
    units, heads = schedule.units(problem), max(1, problem.heads)
    threads = next((one for one in _SPECS["threads"].values if one >= max(schedule.threads, units)), _MOST_THREADS)
    most = max(count for count in _SPECS["heads_per_thread"].values if count < 2 * heads or count == 1)
    schedule = replace(schedule, threads=threads, heads_per_thread=min(schedule.heads_per_thread, most))
    blocks = fitting_blocks(schedule.footprint(problem), spec, _SPECS["min_blocks_per_sm"].values)
    return replace(schedule, min_blocks_per_sm=blocks)


def default(problem: RopeProblem, spec: DeviceSpec) -> RopeSchedule:
    """The widest accesses; as many heads for each thread as leave every SM two blocks."""
    width = min(problem.widest, WIDEST_ACCESS // problem.dtype.bytes)
    for heads in (4, 2):
        schedule = _fitted(problem, RopeSchedule(256, width, heads), spec)
        if schedule.blocks(problem) >= 2 * spec.sm_count:
            return schedule
    return _fitted(problem, RopeSchedule(128, width, 1), spec)


def candidates(problem: RopeProblem, spec: DeviceSpec) -> Iterator[RopeSchedule]:
    """Other counts of heads and threads than the default's."""
    usual = default(problem, spec)
    yield usual
    if _can_be_apart(problem):
        for threads, heads, least in ((128, 4, 4), (256, 2, 4), (128, 8, 4), (128, 2, 8), (256, 4, 2)):
            wanted = replace(usual, threads=threads, heads_per_thread=heads, min_blocks_per_sm=least, apart=True)
            fitted = _fitted(problem, wanted, spec)
            yield from (fitted, replace(fitted, specialize=Specialize.SHAPE))
    for threads, heads, least in ((256, 2, 4), (256, 4, 4), (128, 1, 8), (256, 1, 8), (512, 2, 2), (128, 8, 4)):
        wanted = replace(usual, threads=threads, heads_per_thread=heads, min_blocks_per_sm=least)
        yield _fitted(problem, wanted, spec)
    for width, heads in ((2, 4), (4, 4), (2, 1)):  # of few tokens: each thread computes fewer angles
        if width < usual.vector_width:
            wanted = replace(usual, threads=256, vector_width=width, heads_per_thread=heads)
            yield _fitted(problem, wanted, spec)
    yield replace(usual, specialize=Specialize.SHAPE)
    yield replace(_fitted(problem, replace(usual, heads_per_thread=2), spec), specialize=Specialize.SHAPE)


def checks(problem: RopeProblem, schedule: RopeSchedule) -> list[tuple[RopeProblem, RopeSchedule]]:
    """A few tokens of the problem's heads without gaps; and fewer heads with gaps, just aligned enough."""
    fields: dict[str, Any] = {f"{kind}{operand}": 0 for operand in "qkrs" for kind in ("ld", "stride_")}
    fields |= {"batch": 5, "heads_q": max(1, min(problem.heads_q, 8)), "heads_k": min(problem.heads_k, 2)}
    fields |= {"sequence": 0, "table_rows": min(problem.table_rows, 64)}
    whole = replace(problem, **fields)
    fields |= {"heads_q": 3, "heads_k": min(problem.heads_k, 1), "sequence": 3}
    fields |= {f"align_{operand}": schedule.vector_width * problem.dtype.bytes for operand in "qkrs"}
    gap = 0 if problem.head_dim % schedule.vector_width else schedule.vector_width
    edges = replace(problem, **fields | {f"ld{operand}": problem.head_dim + gap for operand in "qkrs"})
    return [(whole, schedule), (edges, schedule)]
