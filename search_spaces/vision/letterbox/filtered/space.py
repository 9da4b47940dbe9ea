"""letterbox: schedules with filters, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from autotune.codegen.vision.letterbox.filtered.schedule import FilteredSchedule
from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.target import Targets
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_MOST_THREADS = 1024


def constraints(problem: Targets, schedule: FilteredSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if not problem.rule.filtered:
        yield f"rule {problem.rule} has two taps, and no filter"


def applies(problem: Targets, spec: DeviceSpec) -> bool:
    """Whether the rule has a filter."""
    return problem.rule.filtered


def space(problem: Targets, spec: DeviceSpec) -> Space[FilteredSchedule]:
    """No more threads than a block may have, and no more rows than there is shared memory for."""

    def build(draw: Draw) -> FilteredSchedule:
        drawn = FilteredSchedule.from_dict(draw)
        drawn = drawn.replace(threads_y=min(drawn.threads_y, _MOST_THREADS // drawn.threads_x))
        while drawn.footprint(problem).shared_bytes > spec.shared_per_block and drawn.together > 1:
            drawn = drawn.replace(together=drawn.together // 2)
        return drawn

    return Space(field_parameters(FilteredSchedule), build)


def candidates(problem: Targets, spec: DeviceSpec) -> Iterator[FilteredSchedule]:
    """Blocks of 128 threads with some rows, then others: an H200 took 16 and 19 % longer with 256."""
    for threads_y, rows, together in product((4, 8), (4, 2, 1), (4, 2)):
        yield FilteredSchedule(32, threads_y, rows, together)


def checks(problem: LetterboxProblem, schedule: FilteredSchedule) -> list[tuple[LetterboxProblem, FilteredSchedule]]:
    """A target of one part, of a larger picture; and of some parts that is no multiple of them, with gaps."""
    few = schedule.replace(threads_x=32, threads_y=min(4, schedule.threads_y), rows=min(2, schedule.rows))
    kinds: dict[str, Any] = {**problem.kinds, "align_target": problem.align_target}
    whole = LetterboxProblem(37, 53, few.tile_height, few.threads_x, **kinds)
    kinds |= {"batch": 2, "stride_images_w": 4, "stride_images_h": 4 * 19 + 5}
    edges = LetterboxProblem(23, 19, few.tile_height + 3, few.threads_x + 1, **kinds)
    return [(one, few) for one in (whole, edges)]
