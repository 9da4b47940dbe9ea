"""Problems of targets and their schedules → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource, using

from .filtered.schedule import FilteredSchedule
from .schedule import LetterboxSchedule
from .staged.schedule import StagedSchedule
from .target import Targets


def emit(problem: Targets, schedule: LetterboxSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return _source(problem).scheduled(schedule, "letterbox", "letterbox_block")


def emit_staged(problem: Targets, schedule: StagedSchedule) -> Program:
    """Likewise, of warps that copy the rows of a picture that they need to shared memory."""
    return _source(problem).scheduled(schedule, "staged/staged", "letterbox_staged")


def emit_filtered(problem: Targets, schedule: FilteredSchedule) -> Program:
    """Likewise, by filters of many rows and columns."""
    return _source(problem).scheduled(schedule, "filtered/filtered", "letterbox_filtered")


def emit_naive(problem: Targets) -> Program:
    """A thread for each pixel of a target."""
    threads = problem.batch * problem.height * problem.width
    return _source(problem).plain(", a thread for each pixel", threads, "letterbox_naive(arguments);")


def _source(problem: Targets) -> KernelSource:
    return KernelSource(
        problem.entry,
        "vision/letterbox",
        problem,
        types=using(Element=problem.dtype),
        conditions={"filtered": problem.rule.filtered, "mixed": problem.mixed},
    )
