"""Runs as tables and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .output import print_json, print_table
from .trials import timed, trial_document

if TYPE_CHECKING:
    from autotune.db import RunRecord, Trial


def print_runs(runs: Sequence[RunRecord], as_json: bool) -> None:
    """Print a line for each run; a narrow terminal gets the commands below."""
    if as_json:
        print_json([_document(run) for run in runs])
    elif runs:
        columns = ("run", "begun", "state", "took", "operator", "trials", "failed", "command")
        print_table("Runs", columns, map(_row, runs), below=columns[-1])
    else:
        print("no runs; run autotune tune first", file=sys.stderr)


def print_run(run: RunRecord, trials: Sequence[Trial], bests: Sequence[Trial], as_json: bool) -> None:
    """Print all that is known of a run.

    Args:
        run: the run.
        trials: those that belong to it.
        bests: the best of them for each problem and device.
        as_json: for scripts.
    """
    if as_json:
        print_json(_document(run) | {"conditions": _conditions(trials), "best": [trial_document(one) for one in bests]})
        return
    print_table(f"run {run.id}", ("run", ""), facts(run, trials))
    if bests:
        columns = ("problem", "device", "trials", "failed", "time", "schedule")
        rows = (_best_row(best, trials) for best in bests)
        print_table("Best of the run", columns, rows, below=columns[-1])


def _document(run: RunRecord) -> dict[str, Any]:
    return {"id": run.id, "state": run.state, **vars(run), "seconds": run.seconds}


def _row(run: RunRecord) -> tuple[Any, ...]:
    total = sum(run.counts.values())
    begun = f"{run.begun_at.astimezone():%m-%d %H:%M}"
    return run.id, begun, run.state, _took(run), run.operator, total, total - run.counts.get("ok", 0), run.command


def _took(run: RunRecord) -> str | None:
    """``42 s``, or ``1:10:00`` of an hour and more."""
    if run.seconds is None:
        return None
    minutes, seconds = divmod(round(run.seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}" if minutes else f"{seconds} s"


def facts(run: RunRecord, trials: Sequence[Trial]) -> list[tuple[str, Any]]:
    """What is known of a run beside its trials, by name."""
    counts = ", ".join(f"{count} {status}" for status, count in run.counts.items())
    moved = sum(run.counts.values()) - len(trials)
    ranges = ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in _conditions(trials).items())
    return [
        ("state", f"{run.state}: {run.error}" if run.error else run.state),
        ("command", run.command),
        ("begun", f"{run.begun_at.astimezone():%Y-%m-%d %H:%M:%S}"),
        *([("took", _took(run))] if run.ended_at else []),
        ("sampler", f"{run.sampler}, seed {run.seed}"),
        ("options", _words(run.options)),
        *(("device", _words(device)) for device in run.devices),
        *([("conditions", ranges)] if ranges else []),
        ("trials", f"{counts or 'none'}{f'; {moved} were tried again by later runs' if moved > 0 else ''}"),
    ]


def _words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _conditions(trials: Iterable[Trial]) -> dict[str, tuple[float, float]]:
    """The least and the largest of each number that devices told while they took the samples."""
    numbers: dict[str, list[float]] = {}
    for trial in trials:
        for name, value in trial.conditions.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers.setdefault(name, []).append(value)
    return {name: (min(values), max(values)) for name, values in numbers.items()}


def _best_row(best: Trial, trials: Sequence[Trial]) -> tuple[Any, ...]:
    place = (best.problem.key, best.device.model)
    own = [trial for trial in trials if (trial.problem.key, trial.device.model) == place]
    failed = sum(not trial.ok for trial in own)
    return *place, len(own), failed, timed(best), best.summary
