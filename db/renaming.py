"""Stored problems and schedules under the names that their fields have today.

Fields are renamed, and keys derived otherwise, from one version to the next. Each class of an operator knows the names
that its fields had (`renamed`), so what any earlier version wrote can be read. The values that are stored beside the
fields follow from them: the problem's key and the schedules' digests.

Documents are renamed when they are read, a database by `upgrade` after it was migrated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.registry import OPERATORS

from .trials import ProblemRecord, Trial


def renamed(trials: Sequence[Trial]) -> list[Trial]:
    """The trials under today's names; those that no operator can read stay as they are, and count as stale.

    Args:
        trials: with all that `Trial.lost_to` of one of them may refer to.
    """
    problems = {id(trial.problem): trial.problem for trial in trials}  # one for many trials, as documents have them
    today = {key: _problem_of(problem) for key, problem in problems.items()}
    found = [_renamed(trial, today[id(trial.problem)]) for trial in trials]
    digests = {_schedule(old): new.schedule_digest for old, new in zip(trials, found, strict=True)}
    return [
        replace(new, lost_to=digests.get((*_schedule(old)[:2], old.lost_to), old.lost_to)) if old.lost_to else new
        for old, new in zip(trials, found, strict=True)
    ]


def key_of(stored: ProblemRecord) -> str | None:
    """The key that a problem's fields make; None if they have other names or values than today."""
    problem = _problem_of(stored)
    return problem.key if problem and problem.to_dict() == stored.fields else None


def _problem_of(stored: ProblemRecord) -> Problem | None:
    """The problem that fields make; None if no operator can read them."""
    operator = OPERATORS.get(stored.operator)
    if operator is None:
        return None
    try:
        problem: Problem = operator.problem_type.from_dict(stored.fields)
    except ValueError:
        return None
    return problem


def _renamed(trial: Trial, problem: Problem | None) -> Trial:
    if problem is None:
        return trial
    operator = OPERATORS[trial.problem.operator]
    try:
        schedule = operator.schedule(trial.schedule)
    except ValueError:
        return trial
    named = ProblemRecord.of(operator.name, problem)
    if named == trial.problem and schedule.digest == trial.schedule_digest and schedule.to_dict() == trial.schedule:
        return trial
    return replace(trial, problem=named, schedule=schedule.to_dict(), schedule_digest=schedule.digest)


def _schedule(trial: Trial) -> tuple[str, str, str]:
    """The names by which a trial refers to the schedule that was preferred to its own."""
    return trial.problem.operator, trial.problem.key, trial.schedule_digest
