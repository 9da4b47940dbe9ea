"""softmax: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import round_up
from autotune.codegen.rows.schedule import RowStorage
from autotune.codegen.rows.softmax.presets import streamed, widest
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.schedule import Passes, SoftmaxSchedule
from autotune.search_spaces.contract.space import Draw, Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.machine.time_model import MachineCosts
from autotune.search_spaces.rows.row_checks import row_checks
from autotune.search_spaces.rows.row_schedules import place_violations, row_space, row_violations
from autotune.search_spaces.rows.row_seeds import RowSeeds

_LONG_ROW = 60_000  # bytes of a row that shared memory holds best
_HALF_WORD = 2  # bytes
_APART = 0.5  # registers for each word of two elements that are loaded one by one where only some of them count


def constraints(problem: SoftmaxProblem, schedule: SoftmaxSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from row_violations(schedule, schedule.reach_in(problem), problem.dtype.bytes)
    yield from place_violations(schedule, problem.batch_invariant, problem.vector_width("x"))
    if schedule.hold not in _holds(problem):
        yield f"hold {schedule.hold}: expected {' or '.join(_holds(problem))} for rows with a mask"
    if problem.has_mask and schedule.hold is RowStorage.RELOAD and not problem.alike(schedule.vector_width):
        yield f"hold reload: vectors of {schedule.vector_width}, which wait in y, are aligned otherwise there than in x"
    if schedule.skip and not _can_skip(problem, schedule):
        yield "skip: expected rows in registers, of which a part counts by lengths or by a causal mask alone"
    if schedule.heads_first and not _shares_masks(problem):
        yield f"heads_first: expected whole blocks of {problem.queries * problem.heads} rows that share a mask"
    if schedule.passes is Passes.KEPT and not _can_keep(problem, schedule):
        yield "passes kept: expected rows in registers, and no logarithm, which takes each exponential once anyway"


def _holds(problem: SoftmaxProblem) -> tuple[RowStorage, ...]:
    """Where rows may wait: cp.async copies, and applies no mask."""
    return (RowStorage.REGISTERS, RowStorage.RELOAD) if problem.has_mask else tuple(RowStorage)


def _can_skip(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> bool:
    return problem.masked and not problem.has_mask and schedule.hold is RowStorage.REGISTERS


def _can_keep(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> bool:
    return not problem.log and schedule.hold is RowStorage.REGISTERS


def _shares_masks(problem: SoftmaxProblem) -> bool:
    """Whether several matrices share each mask, the last one as many as the others."""
    return problem.heads > 1 and problem.rows % (problem.queries * problem.heads) == 0


def _between(problem: SoftmaxProblem) -> int:
    """Bytes that a matrix reads and writes, after which the next one reads the same mask."""
    return problem.queries * problem.columns * (problem.mask_dtype.bytes + 2 * problem.dtype.bytes)


def space(problem: SoftmaxProblem, spec: DeviceSpec) -> Space[SoftmaxSchedule]:
    """All fields; rows that are held elsewhere than in registers skip nothing, and keep no exponentials."""
    size = problem.dtype.bytes
    drawn = row_space(
        SoftmaxSchedule,
        problem.columns,
        problem.vector_width("x"),
        size,
        spec,
        widest=widest(problem) * size,
        holds=_holds(problem),
        skip=(False, True) if problem.masked and not problem.has_mask else (False,),
        heads_first=(False, True) if _shares_masks(problem) else (False,),
        passes=[one for one in Passes if one is not Passes.KEPT or not problem.log],
    )

    def build(draw: Draw) -> SoftmaxSchedule:
        schedule = drawn.build(draw)
        schedule = replace(schedule, skip=schedule.skip and _can_skip(problem, schedule))
        fits = _can_keep(problem, schedule) and not any(footprint_violations(spec, schedule.footprint(problem)))
        return replace(schedule, passes=Passes.TWO) if schedule.passes is Passes.KEPT and not fits else schedule

    return replace(drawn, build=build)


def default(problem: SoftmaxProblem, spec: DeviceSpec) -> SoftmaxSchedule:
    """The first candidate; a row that fits nowhere is read twice."""
    return next(candidates(problem, spec), streamed(problem))


def candidates(problem: SoftmaxProblem, spec: DeviceSpec) -> Iterator[SoftmaxSchedule]:
    """Long rows in shared memory first, others in registers first, in two passes and in one; read again last."""
    apart = _APART if (problem.masked or problem.has_mask) and problem.dtype.bytes == _HALF_WORD else 0.0
    seeds = RowSeeds(problem, streamed(problem), space(problem, spec), constraints, spec, spare_of_word=apart)
    copied = [] if problem.has_mask else list(seeds.in_shared_memory())
    loaded = list(seeds.in_registers())[:4]
    if problem.columns * problem.dtype.bytes >= _LONG_ROW:
        yield from (*copied, *loaded[:2])
    else:
        first = _skipping(problem, seeds) or loaded[:3]
        if _shares_masks(problem) and _between(problem) > MachineCosts.of(spec).l2_share * spec.l2_bytes:
            first = [*(replace(schedule, heads_first=True) for schedule in first), *first[:1]]
        kept = [] if problem.log else [seeds.filling(replace(schedule, passes=Passes.KEPT)) for schedule in first]
        yield from (*first, *kept)
        if problem.masked or problem.has_mask:
            # Of a known shape, no vector is asked whether it is there. In small blocks, rows wait for no longer ones.
            small = [seeds.filling(_of_a_row(schedule)) for schedule in (*first[:1], *kept)]
            yield from (*small, *(schedule.shape_specialized for schedule in (*first[:2], *small)))
        for passes in (Passes.TWO, Passes.ONLINE):
            yield from (replace(schedule, passes=passes) for schedule in (*loaded[:2], *copied[:2]))
        yield from loaded[2:]
        for schedule in loaded[:1]:
            yield replace(schedule, streaming=True)
            yield replace(schedule, min_blocks_per_sm=1)
    again = replace(seeds.streamed, threads=512, threads_per_row=512, loads_in_flight=4)
    shared = replace(seeds.streamed, threads=1024, threads_per_row=1024, cluster=8, loads_in_flight=8, streaming=True)
    for schedule in (again, shared, *seeds.narrow(loaded)):
        if schedule in seeds.drawn:
            yield schedule


def _of_a_row(schedule: SoftmaxSchedule) -> SoftmaxSchedule:
    return replace(schedule, threads=max(WARP, schedule.threads_per_row))


def _skipping(problem: SoftmaxProblem, seeds: RowSeeds[SoftmaxProblem, SoftmaxSchedule]) -> list[SoftmaxSchedule]:
    """In as many blocks as rows take whose elements all count; none if no vector may be skipped."""
    if not problem.masked or problem.has_mask:
        return []
    return [replace(schedule, skip=True) for schedule in islice(replace(seeds, spare_of_word=0.0).in_registers(), 3)]


def checks(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> list[tuple[SoftmaxProblem, SoftmaxSchedule]]:
    """See `row_checks`: causal blocks are square, whose first rows keep little, or of two rows, which keep much."""
    (whole, _), (ragged, _) = row_checks(problem, schedule)
    if schedule.heads_first:
        whole = replace(whole, queries=whole.rows // 2, heads=2)
        return [(whole, schedule), (replace(ragged, rows=round_up(ragged.rows, 4), queries=2, heads=2), schedule)]
    queries = whole.rows if problem.has_mask else 0  # square masks would have many rows
    return [(replace(whole, queries=queries, heads=1), schedule), (replace(ragged, queries=2, heads=2), schedule)]
