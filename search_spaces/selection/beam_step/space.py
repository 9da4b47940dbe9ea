"""beam_step: which schedules are legal, drawn and tried first; as those of topk, whose rows are beams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.integers import round_up
from autotune.codegen.selection.beam_step.problem import MOST_TOKENS, BeamStepProblem
from autotune.codegen.selection.beam_step.schedule import BeamStepSchedule
from autotune.codegen.selection.topk.stream.schedule import StreamSchedule
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.selection.topk.stream.space import candidates as candidates_of_topk
from autotune.search_spaces.selection.topk.stream.space import space as space_of_topk


def space(problem: BeamStepProblem, spec: DeviceSpec) -> Space[BeamStepSchedule]:
    """That of topk."""
    stated = space_of_topk(problem, spec)
    return Space(stated.parameters, lambda draw: _own(stated.build(draw)))


def candidates(problem: BeamStepProblem, spec: DeviceSpec) -> Iterator[BeamStepSchedule]:
    """Those of topk."""
    return map(_own, candidates_of_topk(problem, spec))


def checks(problem: BeamStepProblem, schedule: BeamStepSchedule) -> list[tuple[BeamStepProblem, BeamStepSchedule]]:
    """Beams that blocks keep as a whole; and longer ones, aligned as the problem's are."""
    like = schedule.replace(splits=min(2, schedule.splits))
    kept = schedule.candidates * like.splits // 4
    whole = replace(problem, requests=2, beams=2, columns=kept, k=min(problem.k, kept), ldx=0)
    columns = min(schedule.candidates * like.splits + schedule.threads + 1, MOST_TOKENS)
    ldx = round_up(columns, schedule.vector_width) + problem.ldx % schedule.vector_width
    edges = replace(problem, requests=2, beams=3, columns=columns, k=min(problem.k, kept), ldx=ldx)
    return [(whole, like), (edges, like)]


def _own(schedule: StreamSchedule) -> BeamStepSchedule:
    return BeamStepSchedule(**vars(schedule))
