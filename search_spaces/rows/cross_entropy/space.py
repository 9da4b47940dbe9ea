"""cross_entropy and its backward: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.codegen.rows.cross_entropy.logits_problem import LogitsProblem
from autotune.codegen.rows.cross_entropy.presets import streamed, widest
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropyBackwardSchedule, CrossEntropySchedule
from autotune.codegen.rows.schedule import RowStorage
from autotune.search_spaces.contract.space import Draw, Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import BULK_COPIES_SINCE
from autotune.search_spaces.rows.row_schedules import place_violations, row_space, row_violations
from autotune.search_spaces.rows.row_seeds import RowSeeds

P = TypeVar("P", bound=LogitsProblem)
S = TypeVar("S", bound=CrossEntropyBackwardSchedule)

_LONG_ROW = 60_000  # bytes of a row that shared memory holds best until it is read again
# Threads, loads in flight, blocks on an SM, and whether caches keep nothing; the first is the fastest on an H200 for
# most vocabularies of 100,000 and more in 16 bits.
_STEPS = (
    (128, 8, 8, False),
    (256, 4, 4, False),
    (512, 4, 2, False),
    (1024, 2, 1, False),
    (512, 8, 1, False),
    (256, 8, 2, False),
    (512, 2, 3, False),
    (128, 8, 8, True),
    (512, 4, 1, True),
)
_READ_ONCE = (RowStorage.REGISTERS, RowStorage.RELOAD)  # where rows may be that do not wait for a second pass


def constraints(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from row_violations(schedule, schedule.reach_in(problem), problem.dtype.bytes)
    if isinstance(problem, CrossEntropyProblem):
        yield from place_violations(schedule, problem.batch_invariant, problem.vector_width("x"))
    if isinstance(schedule, CrossEntropySchedule) and schedule.early and schedule.hold is RowStorage.RELOAD:
        yield "early: expected rows that are held, whose loads all leave at once"
    if isinstance(schedule, CrossEntropySchedule) and schedule.bulk and not _can_bulk(problem, schedule, spec):
        yield "bulk: expected early rows of several warps in shared memory, of vectors of 16 bytes, on sm_90 or newer"
    if schedule.hold not in _holds(problem):
        yield f"hold {schedule.hold}: expected {' or '.join(_READ_ONCE)} for rows that are read once"


def _holds(problem: LogitsProblem) -> tuple[RowStorage, ...]:
    return _READ_ONCE if problem.lse_given else tuple(RowStorage)


@dataclass(frozen=True)
class CrossEntropySpace(Generic[S]):
    """What an operator states of its space, by the type of its schedules."""

    kind: type[S]

    def space(self, problem: LogitsProblem, spec: DeviceSpec) -> Space[S]:
        """All fields."""
        size, columns, aligned = problem.dtype.bytes, problem.columns, problem.vector_width("x")
        most = widest(problem) * size
        drawn = row_space(self.kind, columns, aligned, size, spec, widest=most, holds=_holds(problem))

        def build(draw: Draw) -> S:
            schedule = drawn.build(draw)
            if not isinstance(schedule, CrossEntropySchedule):
                return schedule
            schedule = replace(schedule, early=schedule.early and schedule.hold is not RowStorage.RELOAD)
            return replace(schedule, bulk=schedule.bulk and _can_bulk(problem, schedule, spec))

        return replace(drawn, build=build)

    def default(self, problem: LogitsProblem, spec: DeviceSpec) -> S:
        """The first candidate."""
        return next(self.candidates(problem, spec), streamed(self.kind, problem))

    def candidates(self, problem: LogitsProblem, spec: DeviceSpec) -> Iterator[S]:
        """Long rows in shared memory first if they are read again, or else in steps; short ones in registers first."""
        longest, drawn = streamed(self.kind, problem), self.space(problem, spec)
        seeds = RowSeeds(problem, longest, drawn, constraints, spec)
        copied = [] if problem.lse_given else list(seeds.in_shared_memory())
        bulk = dict.fromkeys(seeds.filling(one) for one in _in_bulk(copied) if _can_bulk(problem, one, spec))
        copied = [*bulk, *(_early(schedule) for schedule in copied), *copied[:1]]
        loaded, again = list(seeds.in_registers())[:4], list(_in_steps(longest))
        if problem.columns * problem.dtype.bytes < _LONG_ROW:
            listed = (*loaded, *copied[:2], *again[:2])
        elif problem.lse_given or not problem.has_gradient:
            listed = (*again, *copied, *loaded[:2])
        else:
            listed = (*copied, *loaded[:2], *again)
        for schedule in (*listed, *seeds.narrow(listed)):
            if schedule in drawn:
                yield schedule


def _can_bulk(problem: LogitsProblem, schedule: CrossEntropyBackwardSchedule, spec: DeviceSpec) -> bool:
    """Whether a thread can copy rows for all others of its block."""
    early = isinstance(schedule, CrossEntropySchedule) and schedule.early and schedule.hold is RowStorage.SHARED
    of_block = schedule.threads_per_row == schedule.threads > WARP
    wide = schedule.vector_width * problem.dtype.bytes == WIDEST_ACCESS
    return early and of_block and wide and spec.compute_capability >= BULK_COPIES_SINCE


def _in_bulk(copied: Sequence[S]) -> Iterator[S]:
    """Rows that one thread copies, in as many blocks of fewer threads, too: copies take none of them."""
    for schedule in copied:
        if isinstance(schedule, CrossEntropySchedule):
            for threads in (schedule.threads, schedule.threads // 2):
                yield replace(schedule, threads=threads, threads_per_row=threads, early=True, bulk=True)


def _early(schedule: S, early: bool = True) -> S:
    return replace(schedule, early=early) if isinstance(schedule, CrossEntropySchedule) else schedule


def _in_steps(longest: S) -> Iterator[S]:
    """Rows of blocks, with more and fewer loads in flight and threads on an SM."""
    for threads, loads, blocks, streaming in _STEPS:
        yield replace(
            longest,
            threads=threads,
            threads_per_row=threads,
            loads_in_flight=loads,
            min_blocks_per_sm=blocks,
            streaming=streaming,
        )
