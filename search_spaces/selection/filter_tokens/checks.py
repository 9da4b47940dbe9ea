"""filter_tokens: problems on which a schedule is verified."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.selection.filter_tokens.problem import FilterTokensProblem
from autotune.codegen.selection.sampling.problem import MOST_COLUMNS
from autotune.codegen.selection.sampling.schedule import SamplingSchedule
from autotune.search_spaces.selection.sampling.space import checks as of_sampling


def checks(
    problem: FilterTokensProblem, schedule: SamplingSchedule
) -> list[tuple[FilterTokensProblem, SamplingSchedule]]:
    """Those of `sampling`, with rows of y that have gaps."""
    spread = replace(problem, ldy=MOST_COLUMNS)
    return [(replace(one, ldy=one.columns + 1), like) for one, like in of_sampling(spread, schedule)]
