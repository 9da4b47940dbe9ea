"""The provenance of records, and which of them are stale."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from autotune.search_spaces.machine.rates import duration

from .output import print_json, print_table
from .trials import schedule_words, timed, trial_document

if TYPE_CHECKING:
    from autotune.db import Trial, TuningDB

_SHOWN = 5


def staleness(trials: Sequence[Trial]) -> list[list[str]]:
    """For each trial why it is stale, as far as this machine can tell."""
    from autotune.devices.select import device_of_model
    from autotune.runs.provenance import stale

    kinds = {(trial.device.model, trial.time_source) for trial in trials}
    devices = {kind: device_of_model(*kind) for kind in kinds}
    return [stale(trial, devices[trial.device.model, trial.time_source]) for trial in trials]


def print_stale(records: Sequence[Trial], failures: Sequence[Trial], as_json: bool) -> None:
    """Print the stale ones of some records, and those of some wrong trials that are to be judged anew; and why."""
    from autotune.db.freshness import OTHER_JUDGE, OTHER_PROGRAM

    found = [(trial, reasons) for trial, reasons in zip(records, staleness(records), strict=True) if reasons]
    anew = [(trial, why) for trial, why in zip(failures, staleness(failures), strict=True) if why == [OTHER_JUDGE]]
    stale, unconfirmed = len(found), sum(OTHER_PROGRAM in reasons for _, reasons in found)
    found += anew
    if as_json:
        print_json([trial_document(trial) | {"stale": reasons} for trial, reasons in found])
        return
    if found:
        rows = ((*_identity(trial), "\n".join(reasons)) for trial, reasons in found)
        print_table("Stale records", ("operator", "problem", "device", "changed since"), rows)
    wrong = f", and {len(anew)} trials were found wrong by another reference or tolerance" if anew else ""
    stamped = f", {unconfirmed} of them unconfirmed, which autotune db stamp may confirm" if unconfirmed else ""
    renewed = "; autotune tune OPERATOR --stale renews them" if found else ""
    print(f"{stale} of {len(records)} records are stale{stamped}{wrong}{renewed}", file=sys.stderr)


def print_explained(records: Sequence[Trial], database: TuningDB, as_json: bool) -> None:
    """Print records with where they come from, and the trials that each was the best of."""
    explained = zip(records, staleness(records), _behind(records, database), strict=True)
    if as_json:
        print_json(
            [
                trial_document(record) | {"stale": reasons, "behind": [trial_document(trial) for trial in trials]}
                for record, reasons, trials in explained
            ]
        )
        return
    for record, reasons, trials in explained:
        _print_record(record, reasons, trials)


def _behind(records: Sequence[Trial], database: TuningDB) -> Iterator[list[Trial]]:
    """For each record its problem's other trials on its device, those of its kind and compiler first, fastest first."""
    keys = {record.problem.key for record in records}
    only = keys.pop() if len(keys) == 1 else None

    @cache
    def tried(operator: str, device: str) -> dict[str, list[Trial]]:
        found: dict[str, list[Trial]] = {}
        for trial in database.trials(operator, only, device):
            found.setdefault(trial.problem.key, []).append(trial)
        return found

    for record in records:
        trials = tried(record.problem.operator, record.device.model)[record.problem.key]
        alike = (record.time_source, record.compiler)
        others = [trial for trial in trials if trial != record]
        yield sorted(others, key=lambda t: (not t.ok, (t.time_source, t.compiler) != alike, t.seconds or 0))


def _identity(trial: Trial) -> tuple[str, str, str]:
    return trial.problem.operator, trial.problem.key, trial.device.model


def _print_record(record: Trial, reasons: list[str], others: Sequence[Trial]) -> None:
    figures = {
        "time": f"{duration(record.seconds or 0)} {record.time_source}, {_spread(record)}",
        "schedule": schedule_words(record),
        "tried": f"{record.created_at.astimezone():%Y-%m-%d %H:%M}",
        "best of": _count([record, *others]),
        **record.environment,
        **record.conditions,
        "compiler": record.compiler,
        "program": record.program_digest[:16],
        "stale": "\n".join(reasons) or "no",
    }
    print_table("  ".join(_identity(record)), ("record", ""), figures.items())
    next_best = [trial for trial in others if trial.ok][:_SHOWN]
    if next_best:
        columns = ("time", "times as long", "compiler", "schedule differs in")
        print_table("Next best", columns, (_compared(trial, record) for trial in next_best), below=columns[-1])


def _spread(trial: Trial) -> str:
    if len(trial.samples) < 2:
        return "one sample"
    low, _, high = quantiles(trial.samples, n=4)
    return f"{len(trial.samples)} samples, half of them {duration(low)} to {duration(high)}"


def _count(trials: Sequence[Trial]) -> str:
    """``12 trials: 9 ok, 3 wrong``."""
    counts = Counter(trial.status for trial in trials)
    return f"{len(trials)} trials: {', '.join(f'{count} {status}' for status, count in counts.items())}"


def _compared(trial: Trial, record: Trial) -> tuple[Any, ...]:
    seconds, best = trial.seconds or 0, record.seconds or 1
    same = schedule_words(record).split()
    differing = " ".join(word for word in schedule_words(trial).split() if word not in same)
    return timed(trial), f"{seconds / best:.3f}", trial.compiler, differing
