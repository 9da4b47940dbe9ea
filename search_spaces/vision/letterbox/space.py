"""letterbox: schedules that are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autotune.codegen.model.fields import field_specs
from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.schedule import LetterboxSchedule
from autotune.codegen.vision.letterbox.target import Targets
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .pixels import rule_violations, store_violations

_PIXELS: tuple[int, ...] = field_specs(LetterboxSchedule)["pixels"].values
_LEAST_THREADS, _MOST_THREADS, _USUAL_THREADS = 32, 1024, 256


def constraints(problem: Targets, schedule: LetterboxSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from rule_violations(problem)
    yield from store_violations(problem, schedule.pixels)
    if schedule.threads < _LEAST_THREADS:
        yield f"threads {schedule.threads_x} by {schedule.threads_y} below the {_LEAST_THREADS} of a warp"


def applies(problem: Targets, spec: DeviceSpec) -> bool:
    """Whether the rule has two taps."""
    return not problem.rule.filtered


def space(problem: Targets, spec: DeviceSpec) -> Space[LetterboxSchedule]:
    """Of pixels, those that are stored together everywhere; no more threads than a block may have."""
    pixels = tuple(some for some in _PIXELS if some <= problem.widest)

    def build(draw: Draw) -> LetterboxSchedule:
        drawn = LetterboxSchedule.from_dict(draw)
        threads_y = max(_LEAST_THREADS // drawn.threads_x, min(drawn.threads_y, _MOST_THREADS // drawn.threads_x))
        return drawn.replace(threads_y=threads_y)

    return Space(field_parameters(LetterboxSchedule, pixels=pixels), build)


def candidates(problem: Targets, spec: DeviceSpec) -> Iterator[LetterboxSchedule]:
    """A few pixels of a thread, in blocks of other forms, with more rows."""
    pixels = min(4, problem.widest)
    for threads_x in (32, 64, 128, 16):
        yield LetterboxSchedule(threads_x, _USUAL_THREADS // threads_x, pixels)
    yield LetterboxSchedule(32, 8, pixels, 2)
    yield LetterboxSchedule(32, 4, pixels, 4)
    yield from (LetterboxSchedule(32, 8, other) for other in (1, 2, 8) if other != pixels and other <= problem.widest)


def checks(problem: LetterboxProblem, schedule: LetterboxSchedule) -> list[tuple[LetterboxProblem, LetterboxSchedule]]:
    """A target of one part, of a larger picture; and of some parts that is no multiple of them, with gaps."""
    few = schedule.replace(threads_x=min(32, schedule.threads_x), rows=min(2, schedule.rows))
    kinds: dict[str, Any] = {**problem.kinds, "align_target": problem.align_target}
    whole = LetterboxProblem(61, 83, few.tile_height, few.tile_width, **kinds)
    kinds |= {"batch": 2, "stride_images_w": 4, "stride_images_h": 4 * 19 + 5}
    edges = LetterboxProblem(23, 19, few.tile_height + 3, few.tile_width + few.pixels, **kinds)
    return [(one, few) for one in (whole, edges)]
