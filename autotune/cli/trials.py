"""Trials as tables and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .figures import duration
from .output import print_json, print_table

if TYPE_CHECKING:
    from ..db import Trial


def print_trials(trials: Sequence[Trial], as_json: bool) -> None:
    """Print trials for people or for scripts."""
    if as_json:
        print_json([trial_document(trial) for trial in trials])
        return
    if not trials:
        print("no trials; autotune tune makes some", file=sys.stderr)
        return
    columns = ("operator", "problem", "device", "status", "time", "source", "tried", "schedule or error")
    print_table("Trials", columns, map(_row, trials))


def trial_document(trial: Trial) -> dict[str, Any]:
    """The trial's members, its device and problem by name."""
    own = {name: value for name, value in vars(trial).items() if name not in ("device", "problem")}
    place = {"operator": trial.problem.operator, "problem": trial.problem.key, "device": trial.device.model}
    return {**place, "seconds": trial.seconds, **own}


def schedule_words(trial: Trial) -> str:
    """The schedule as words that ``autotune emit`` reads."""
    from ..search_spaces.registry import OPERATORS

    try:
        return str(OPERATORS[trial.problem.operator].schedule_type.from_dict(trial.schedule))
    except (KeyError, ValueError):  # a record of another version
        return " ".join(f"{name}={value}" for name, value in trial.schedule.items())


def _row(trial: Trial) -> tuple[Any, ...]:
    return (
        trial.problem.operator,
        trial.problem.key,
        trial.device.model,
        trial.status,
        None if trial.seconds is None else duration(trial.seconds),
        trial.time_source,
        f"{trial.created_at.astimezone():%Y-%m-%d %H:%M}",
        trial.error or schedule_words(trial),
    )
