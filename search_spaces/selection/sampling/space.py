"""sampling: which schedules are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from autotune.codegen.model.integers import round_up
from autotune.codegen.selection.sampling.problem import SamplingProblem
from autotune.codegen.selection.sampling.schedule import LEAST_CANDIDATES, SamplingSchedule
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.selection.fitting import fitted

P = TypeVar("P", bound=SamplingProblem)
S = TypeVar("S", bound=SamplingSchedule)

_MOST_HELD = 32  # candidates that a thread orders in registers
_WIDTH = 4  # elements of the vectors that shapes count; of wider ones, threads hold fewer
# Threads, loads in flight, samples, candidates, and blocks for each SM, which bound the registers of a thread.
_SHAPES = (
    (512, 4, 2, 2048, 2),
    (1024, 4, 1, 2048, 1),
    (512, 8, 2, 4096, 2),
    (1024, 2, 2, 4096, 1),
    (256, 4, 4, 2048, 3),
    (512, 2, 1, 2048, 2),
)


def constraints(problem: SamplingProblem, schedule: SamplingSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    vector, candidates, threads = schedule.vector_width, schedule.candidates, schedule.threads
    if vector > problem.widest:
        yield f"vector_width {vector} over the {problem.widest} elements that X is aligned for"
    if candidates > _MOST_HELD * threads:
        yield f"candidates {candidates} over the {_MOST_HELD * threads} of {threads} threads"


def space(problem: SamplingProblem, spec: DeviceSpec) -> Space[SamplingSchedule]:
    """See `space_of`, of blocks that have a row each."""
    return space_of(SamplingSchedule, problem, spec)


def space_of(schedule_type: type[S], problem: SamplingProblem, spec: DeviceSpec, **values: Sequence[int]) -> Space[S]:
    """Candidates and blocks of an SM are lowered to what fits, so that most draws are legal."""
    widths = tuple(width for width in (1, 2, 4, 8) if width <= problem.widest)

    def build(draw: Draw) -> S:
        drawn = schedule_type.from_dict(draw)
        return fitted(problem, drawn.replace(candidates=min(drawn.candidates, _MOST_HELD * drawn.threads)), spec)

    return Space(field_parameters(schedule_type, vector_width=widths, **values), build)


def candidates(problem: SamplingProblem, spec: DeviceSpec) -> Iterator[SamplingSchedule]:
    """The widest loads, by one or two blocks of an SM; a row for each SM, or fewer, have large blocks first."""
    shapes = sorted(_SHAPES, key=lambda shape: -shape[0]) if problem.rows <= spec.sm_count else _SHAPES
    width = problem.widest
    for threads, loads, samples, kept, per_sm in shapes:
        held = [max(1, vectors * _WIDTH // max(width, _WIDTH)) for vectors in (loads, samples)]
        schedule = SamplingSchedule(threads, width, held[0], kept, held[1], min_blocks_per_sm=per_sm)
        yield fitted(problem, schedule, spec)


def checks(problem: P, schedule: S) -> list[tuple[P, S]]:
    """Rows that a block keeps as a whole; and longer ones that begin as the problem's do."""
    columns = schedule.candidates + LEAST_CANDIDATES // 2 + 1
    skew = problem.ldx % schedule.vector_width if problem.rows > 1 else 0
    ldx = round_up(columns, schedule.vector_width) + skew
    whole = replace(problem, rows=2, columns=LEAST_CANDIDATES // 4, ldx=0)
    return [(whole, schedule), (replace(problem, rows=3, columns=columns, ldx=ldx), schedule)]
