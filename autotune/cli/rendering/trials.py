"""Trials as tables and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autotune.search_spaces.machine.rates import duration

from .output import print_json, print_table

if TYPE_CHECKING:
    from autotune.codegen.model.schedule import Schedule
    from autotune.db import Trial


def print_trials(trials: Sequence[Trial], as_json: bool) -> None:
    """Print trials for people or for scripts; a narrow terminal gets them without when and how they were timed."""
    columns = ("operator", "problem", "device", "status", "time", "source", "tried", "schedule or error")
    _print(trials, as_json, "Trials", columns, _row, ("tried", "source"))


def print_bests(trials: Sequence[Trial], as_json: bool) -> None:
    """Print the best trials of problems; a narrow terminal gets them without their schedules."""
    columns = ("operator", "problem", "device", "time", "source", "schedule")
    _print(trials, as_json, "Best trials", columns, _best_row, ("schedule", "source"))


def _print(
    trials: Sequence[Trial],
    as_json: bool,
    title: str,
    columns: Sequence[str],
    row: Callable[[Trial], tuple[Any, ...]],
    expendable: Sequence[str],
) -> None:
    if as_json:
        print_json([trial_document(trial) for trial in trials])
    elif trials:
        print_table(title, columns, map(row, trials), expendable)
    else:
        print("no trials; run autotune tune first", file=sys.stderr)


def trial_document(trial: Trial) -> dict[str, Any]:
    """The trial's members, its device and problem by name."""
    own = {name: value for name, value in vars(trial).items() if name not in ("device", "problem")}
    own["comparison"] = trial.comparison and trial.comparison.to_dict()
    identity = {"operator": trial.problem.operator, "problem": trial.problem.key, "device": trial.device.model}
    return {**identity, "seconds": trial.seconds, **own}


def schedule_words(trial: Trial) -> str:
    """The schedule as words that ``autotune emit`` reads."""
    schedule = _schedule(trial)
    return str(schedule) if schedule else _as_stored(trial)


def _schedule(trial: Trial) -> Schedule | None:
    """The trial's schedule; None for a record of another version."""
    from autotune.search_spaces.contract.registry import OPERATORS

    try:
        schedule: Schedule = OPERATORS[trial.problem.operator].schedule(trial.schedule)
    except (KeyError, ValueError):
        return None
    return schedule


def _as_stored(trial: Trial) -> str:
    return " ".join(f"{name}={value}" for name, value in trial.schedule.items())


def _best_row(trial: Trial) -> tuple[Any, ...]:
    operator, key, model, _, time, source, *_ = _row(trial)
    return operator, key, model, time, source, trial.summary


def _row(trial: Trial) -> tuple[Any, ...]:
    return (
        trial.problem.operator,
        trial.problem.key,
        trial.device.model,
        trial.status,
        None if trial.seconds is None else duration(trial.seconds),
        trial.time_source,
        f"{trial.created_at.astimezone():%Y-%m-%d %H:%M}",
        trial.error or trial.summary,
    )
