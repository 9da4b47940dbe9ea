"""decode: schedules that are legal, and problems that prove them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TypeVar

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.vision.decode.problem import Detections
from autotune.codegen.vision.decode.schedule import DecodeSchedule
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_Detections = TypeVar("_Detections", bound=Detections)

_MOST_THREADS = 1024
_WIDTHS: tuple[int, ...] = field_specs(DecodeSchedule)["vector_width"].values
_MANY = 1 << 17  # points, which take few threads each


def constraints(problem: Detections, schedule: DecodeSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if problem.vector_width % schedule.vector_width:
        yield f"vector_width {schedule.vector_width} of {problem.vector_width} neighbours that lie together"
    if not WARP <= (threads := schedule.threads) <= _MOST_THREADS:
        yield f"points {schedule.points} of {schedule.splits} splits: {threads} threads, not {WARP} to {_MOST_THREADS}"


def space(problem: Detections, spec: DeviceSpec) -> Space[DecodeSchedule]:
    """Threads of a block between those of a warp and the most, by as many splits."""
    widths = tuple(width for width in _WIDTHS if problem.vector_width % width == 0)

    def build(draw: Draw) -> DecodeSchedule:
        drawn = DecodeSchedule.from_dict(draw)
        least = max(1, WARP * drawn.vector_width // drawn.points)
        most = _MOST_THREADS * drawn.vector_width // drawn.points
        return drawn.replace(splits=max(least, min(drawn.splits, most)))

    return Space(field_parameters(DecodeSchedule, vector_width=widths), build)


def candidates(problem: Detections, spec: DeviceSpec) -> Iterator[DecodeSchedule]:
    """Wide loads, and more threads of a point where there are few points."""
    widths = [width for width in (4, 8, 2, 1) if problem.vector_width % width == 0]
    splits = (2, 4, 8) if problem.batch * problem.points >= _MANY else (8, 16, 4)
    for points, width, some in product((128, 64, 256), widths, splits):
        yield DecodeSchedule(points, min(some, _MOST_THREADS * width // points), width)


def checks(problem: _Detections, schedule: DecodeSchedule) -> list[tuple[_Detections, DecodeSchedule]]:
    """Pictures of some parts, as wide as the vectors ask for; two smaller ones with little room."""
    classes = min(problem.classes, 11)
    few = replace(problem, height=64, width=64, batch=2, classes=classes, capacity=7)
    narrow = schedule.replace(vector_width=min(schedule.vector_width, few.vector_width))
    whole = replace(few, width=256, batch=1, capacity=300)
    legal = [(whole, schedule), (few, narrow)]
    return [(one, few) for one, few in legal if one.vector_width % few.vector_width == 0 and few.threads >= WARP]
