"""What a contest says of a trial, kept in its environment: whether something else computes its problem faster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .records import Trial

_CONTEST = "contest"


def with_contest(trial: Trial, own: float, others: Mapping[str, float], libraries: Mapping[str, str]) -> Trial:
    """The trial of a schedule with what came of a contest on its problem and device, in place of an earlier one.

    Seconds of the trial itself would not do: from run to run they differ by some percent, and only those who are
    measured in turns meet the same clock.

    Args:
        trial: of the schedule.
        own: its median in the contest, in seconds.
        others: those of the others by name.
        libraries: versions of what the others rest on.
    """
    contest = {"own": own, "others": dict(others), "libraries": dict(libraries)}
    return replace(trial, environment={**trial.environment, _CONTEST: contest}, created_at=datetime.now(UTC))


def beaten_by(trial: Trial) -> frozenset[str]:
    """Who was faster than the trial's schedule; nobody where that was never measured."""
    contest = trial.environment.get(_CONTEST)
    if not isinstance(contest, Mapping):
        return frozenset()
    own, others = contest.get("own"), contest.get("others")
    if not isinstance(own, float) or not isinstance(others, Mapping):
        return frozenset()
    return frozenset(name for name, seconds in others.items() if isinstance(seconds, float) and seconds < own)
