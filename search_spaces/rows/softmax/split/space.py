"""softmax of rows that many blocks share: which schedules there are."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.split.schedule import SplitSchedule
from autotune.search_spaces.rows.split import SplitSpace, refused_invariance


def _refused(problem: SoftmaxProblem) -> Iterator[str]:
    if problem.masked or problem.has_mask:
        yield "rows of which a part counts: expected all of it where blocks share them"
    yield from refused_invariance(problem.batch_invariant)


SPACE = SplitSpace(SplitSchedule, _refused, clusters=True)
