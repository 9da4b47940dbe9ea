"""topk: schedules of blocks that read rows once, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.selection.problem import SelectionProblem
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.stream.schedule import LEAST_CANDIDATES, StreamSchedule
from autotune.codegen.selection.vectors import vectors_of_row
from autotune.search_spaces.contract.space import Draw, Parameter, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.selection.fitting import fitted

_MOST_HELD = 32  # candidates that a thread orders in registers
_SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 132, 192, 256, 264, 512, 528, 1024)
_LEAST_OF_BLOCK = 1024  # elements
_BLOCKS_PER_SM = 8  # beyond which a row is not split further
_LARGE = 8192  # candidates that most rows do with
# Threads, loads in flight, samples, and blocks for each SM, which bound the registers of a thread.
_SHAPES = (
    (256, 4, 1, 4),
    (512, 4, 2, 2),
    (1024, 4, 2, 1),
    (512, 4, 1, 1),
    (256, 4, 2, 4),
    (512, 8, 4, 2),
    (512, 4, 4, 2),
    (512, 2, 2, 3),
)


def constraints(problem: SelectionProblem, schedule: StreamSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    found = []
    vector, candidates, threads = schedule.vector_width, schedule.candidates, schedule.threads
    if vector > problem.widest:
        found.append(f"vector_width {vector} over the {problem.widest} elements that X is aligned for")
    if candidates < problem.k:
        found.append(f"candidates {candidates} below the {problem.k} results of a row")
    if not threads <= candidates <= _MOST_HELD * threads:
        found.append(f"candidates {candidates}: expected {threads} … {_MOST_HELD * threads} for threads {threads}")
    if schedule.splits > 1 and schedule.splits > (vectors := vectors_of_row(problem, vector)):
        found.append(f"splits {schedule.splits} over the {vectors} vectors of a row")
    return found


def space(problem: SelectionProblem, spec: DeviceSpec) -> Space[StreamSchedule]:
    """Candidates are raised to k and to the threads, and blocks of an SM lowered, so that most draws are legal."""
    widths = tuple(width for width in (1, 2, 4, 8) if width <= problem.widest)
    parameters = (
        *field_parameters(StreamSchedule, vector_width=widths),
        Parameter("splits", split_values(problem, spec)),
    )

    def build(draw: Draw) -> StreamSchedule:
        drawn = StreamSchedule.from_dict(draw)
        least = max(drawn.threads, _power(problem.k))
        kept = max(least, min(drawn.candidates, _MOST_HELD * drawn.threads))
        return fitted(problem, drawn.replace(candidates=kept), spec)

    return Space(parameters, build)


def split_values(problem: SelectionProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """Splits until all rows have enough blocks, each of which has enough elements."""
    blocks = _BLOCKS_PER_SM * spec.sm_count // max(1, problem.rows)
    most = min(blocks, problem.columns // max(_LEAST_OF_BLOCK, 2 * problem.k))
    return tuple(splits for splits in _SPLITS if splits <= max(1, most))


def candidates(problem: SelectionProblem, spec: DeviceSpec) -> Iterator[StreamSchedule]:
    """A block or two for each SM, and as many candidates as a sample's floor leaves."""
    values = split_values(problem, spec)
    for threads, loads, samples, per_sm in _SHAPES:
        wanted = ceil_div(per_sm * spec.sm_count, max(1, problem.rows)) if problem.rows < spec.sm_count else 1
        splits = max(value for value in values if value <= max(1, wanted))
        schedule = StreamSchedule(threads, problem.widest, loads, splits, samples=samples, min_blocks_per_sm=per_sm)
        schedule = schedule.replace(candidates=_candidates(problem, schedule))
        yield fitted(problem, schedule, spec)
        if splits > 1:
            fewer = max(value for value in values if value <= max(1, splits // 2))
            yield fitted(problem, schedule.replace(splits=fewer), spec)


def _candidates(problem: SelectionProblem, schedule: StreamSchedule) -> int:
    """Room for what passes a sample's floor, or for all elements if these are few."""
    columns = ceil_div(problem.columns, schedule.splits)
    sampled = schedule.threads * schedule.samples * schedule.vector_width
    mean = problem.k * sampled / max(1, columns)
    wanted = 1.125 * (mean + 3.5 * sqrt(mean) + 3)
    passing = (wanted + 4 * sqrt(wanted)) * columns / sampled
    least = max(schedule.threads, _power(problem.k), LEAST_CANDIDATES)
    return max(least, min(_power(int(min(passing, columns))), _LARGE, _MOST_HELD * schedule.threads))


def checks(problem: TopkProblem, schedule: StreamSchedule) -> list[tuple[TopkProblem, StreamSchedule]]:
    """Rows that a block keeps as a whole; and rows of more than that, aligned as the problem is."""
    like = schedule.replace(splits=min(3, schedule.splits))
    kept = schedule.candidates * like.splits // 2
    whole = replace(problem, rows=2, columns=round_up(kept, WARP), k=min(problem.k, kept), ldx=0)
    columns = schedule.candidates * (like.splits + 1) + 1
    skew = problem.ldx % schedule.vector_width if problem.rows > 1 else 0
    ldx = round_up(columns, schedule.vector_width) + skew
    edges = replace(problem, rows=3, columns=columns, k=min(problem.k, kept), ldx=ldx)
    return [(whole, like), (edges, like)]


def _power(value: int) -> int:
    """The least power of two that is not below a number."""
    return 1 << max(0, value - 1).bit_length()
