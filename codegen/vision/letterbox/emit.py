"""LetterboxProblem and LetterboxSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource, using

from .filtered.schedule import FilteredSchedule
from .problem import LetterboxProblem
from .schedule import LetterboxSchedule
from .staged.schedule import StagedSchedule


def emit(problem: LetterboxProblem, schedule: LetterboxSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return _source(problem).scheduled(schedule)


def emit_staged(problem: LetterboxProblem, schedule: StagedSchedule) -> Program:
    """Likewise, of warps that copy the rows of a picture that they need to shared memory."""
    return _source(problem).scheduled(schedule, "staged/staged", "letterbox_staged")


def emit_filtered(problem: LetterboxProblem, schedule: FilteredSchedule) -> Program:
    """Likewise, by filters of many rows and columns."""
    return _source(problem).scheduled(schedule, "filtered/filtered", "letterbox_filtered")


def emit_naive(problem: LetterboxProblem) -> Program:
    """A thread for each pixel of a target."""
    threads = problem.batch * problem.height * problem.width
    return _source(problem).plain(", a thread for each pixel", threads)


def _source(problem: LetterboxProblem) -> KernelSource:
    return KernelSource(
        "letterbox",
        "vision/letterbox",
        problem,
        types=using(Element=problem.dtype),
        conditions={"filtered": problem.rule.filtered},
    )
