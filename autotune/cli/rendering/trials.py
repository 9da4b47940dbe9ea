"""Trials as tables, as CSV and as JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from autotune.search_spaces.machine.rates import duration, peak_share, rate

from .output import print_csv, print_json, print_table

if TYPE_CHECKING:
    from autotune.codegen.model.schedule import Schedule
    from autotune.db import Trial


_PEAKS = Callable[[Any], Any]  # `TuningDB.peaks`


class Form(StrEnum):
    """How a list is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class Order(StrEnum):
    """By what a list is sorted."""

    PROBLEM = "problem"
    TIME = "time"
    SHARE = "share"
    TRIED = "tried"


def print_trials(trials: Sequence[Trial], form: Form) -> None:
    """Print trials for people or for scripts; a narrow terminal gets schedules below, and not when they were timed."""
    columns = ("operator", "problem", "device", "status", "time", "tried", "schedule or error")
    if not _printed(trials, form):
        print_table("Trials", columns, map(_row, trials), ("tried",), below=columns[-1])


def print_bests(trials: Sequence[Trial], peaks: _PEAKS, form: Form, *, whole: bool) -> None:
    """Print the best trials of problems; a terminal gets a screen of them unless the whole is asked for."""
    columns = ("operator", "problem", "device", "time", "rate", "of peak", "schedule")
    if not _printed(trials, form):
        rest = "" if whole else "--all shows them, --sort another order, --problem and --device fewer"
        rows = (_best_row(trial, peaks) for trial in trials)
        print_table("Best trials", columns, rows, below=columns[-1], rest=rest)


def in_order(trials: Sequence[Trial], order: Order) -> list[Trial]:
    """Trials by operator and problem with sizes as numbers, by growing time, falling share, or the newest first."""
    keys: dict[Order, Callable[[Trial], Any]] = {
        Order.PROBLEM: lambda trial: (trial.problem.operator, _by_number(trial.problem.key), trial.device.model),
        Order.TIME: lambda trial: (trial.seconds is None, trial.seconds),
        Order.SHARE: lambda trial: -(trial.peak_share or 0.0),
        Order.TRIED: lambda trial: -trial.created_at.timestamp(),
    }
    return sorted(trials, key=keys[order])


def _by_number(key: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", key)]


def _printed(trials: Sequence[Trial], form: Form) -> bool:
    """Whether they were printed for scripts, or there are none."""
    if form is Form.JSON:
        print_json([trial_document(trial) for trial in trials])
    elif form is Form.CSV:
        print_csv(_CSV, map(_csv_row, trials))
    elif not trials:
        print("no trials; run autotune tune first", file=sys.stderr)
    else:
        return False
    return True


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


def timed(trial: Trial) -> str | None:
    """``2.67 ms measured``; None without a time."""
    return None if trial.seconds is None else f"{duration(trial.seconds)} {trial.time_source}"


def energy(trial: Trial) -> str:
    """``12.3 mJ measured``; empty where it was not measured."""
    joules = trial.joules
    if joules is None:
        return ""
    return f"{joules:.4g} J measured" if joules >= 1 else f"{joules * 1e3:.4g} mJ measured"


def _best_row(trial: Trial, peaks: _PEAKS) -> tuple[Any, ...]:
    from autotune.search_spaces.contract.known import known

    about = known(trial.problem.operator, trial.problem.fields, trial.device.limits)
    figures: tuple[str | None, str | None] = (None, None)
    if about and trial.seconds:
        best = peaks(about.spec)
        share = peak_share(about.problem, best, trial.seconds)
        figures = (rate(about.problem, best, trial.seconds), f"{share:.0%}")
    return *_identity(trial), timed(trial), *figures, trial.summary


def _row(trial: Trial) -> tuple[Any, ...]:
    tried = f"{trial.created_at.astimezone():%Y-%m-%d %H:%M}"
    return *_identity(trial), trial.status, timed(trial), tried, trial.error or trial.summary


_CSV = (
    "operator",
    "problem",
    "device",
    "status",
    "seconds",
    "time_source",
    "peak_share",
    "compiler",
    "created_at",
    "schedule",
    "error",
)


def _csv_row(trial: Trial) -> tuple[Any, ...]:
    timed_by = (trial.seconds, str(trial.time_source), trial.peak_share, trial.compiler, trial.created_at.isoformat())
    return *_identity(trial), str(trial.status), *timed_by, schedule_words(trial), trial.error


def _identity(trial: Trial) -> tuple[str, str, str]:
    return trial.problem.operator, trial.problem.key, trial.device.model
