"""radix_sort: schedules of a block for each row, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.sorting.radix_sort.block.schedule import BlockSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.sorting.radix_sort.fitting import digit_violations, with_digits, within_sm

_ITEMS = field_specs(BlockSchedule)["items"].values
_THREADS = field_specs(BlockSchedule)["threads"].values


def constraints(problem: RadixSortProblem, schedule: BlockSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.tile < problem.columns:
        yield f"threads {schedule.threads}, items {schedule.items}: {schedule.tile} keys of {problem.columns} of a row"
    yield from digit_violations(schedule)


def applies(problem: RadixSortProblem, spec: DeviceSpec) -> bool:
    """Whether a block has room for a row."""
    last = _holding(problem, BlockSchedule(_THREADS[-1]))
    return last.tile >= problem.columns and not any(footprint_violations(spec, last.footprint(problem)))


def space(problem: RadixSortProblem, spec: DeviceSpec) -> Space[BlockSchedule]:
    """A thread has no more keys than a row takes; there are more threads where those of a draw cannot hold it."""

    def build(draw: Draw) -> BlockSchedule:
        drawn = BlockSchedule.from_dict(draw)
        for threads in (number for number in _THREADS if number >= drawn.threads):
            held = _holding(problem, drawn.replace(threads=threads))
            found = within_sm(problem, with_digits(held), spec)
            if found.tile >= problem.columns:
                return found
        return found

    stated = field_parameters(BlockSchedule)
    return Space(tuple(one for one in stated if one.name != "items"), build)


def candidates(problem: RadixSortProblem, spec: DeviceSpec) -> Iterator[BlockSchedule]:
    """Many keys of a thread, or few, on SMs with several blocks."""
    build = space(problem, spec).build
    for items, blocks in ((16, 3), (4, 8), (8, 2), (32, 1), (16, 1), (2, 8)):
        threads = next((number for number in _THREADS if number * items >= problem.columns), _THREADS[-1])
        yield build(BlockSchedule(threads, min_blocks_per_sm=blocks).to_dict())


def checks(problem: RadixSortProblem, schedule: BlockSchedule) -> list[tuple[RadixSortProblem, BlockSchedule]]:
    """Rows of a whole tile, and of less."""
    some = replace(problem, rows=3, columns=max(1, schedule.tile - schedule.threads // 2 - 1))
    return [(replace(problem, rows=2, columns=schedule.tile), schedule), (some, schedule)]


def _holding(problem: RadixSortProblem, schedule: BlockSchedule) -> BlockSchedule:
    """The schedule with as few keys of a thread as a row takes, or the most."""
    enough = (number for number in _ITEMS if number * schedule.threads >= problem.columns)
    return schedule.replace(items=next(enough, _ITEMS[-1]))
