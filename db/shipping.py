"""Writing the trials that ship with the package, with what serving and freshness need of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import quantiles
from typing import Any

from autotune.base.files import write_text
from autotune.search_spaces.machine.devices import file_stem

from .comparison import BaselineTimes
from .exchange import from_document, read_document, to_document
from .packing import packed
from .pretuned import file_name
from .trials import Trial

_DIGITS = 9  # nanoseconds: an event resolves 32 of them


def ship(trials: Iterable[Trial], folder: Path) -> list[Path]:
    """Write a file for each device model, operator and compiler of some trials, unless it has these already.

    Returns:
        The paths of those that were written.

    Raises:
        OSError: a file cannot be written; what was there is still there.
    """
    groups: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        name = file_name(trial.problem.operator, trial.compiler)
        groups.setdefault((file_stem(trial.device.model), name), []).append(_reduced(trial))
    written = []
    for (device, name), listed in sorted(groups.items()):
        path = folder / device / name
        if {_identity(trial) for trial in listed} == _shipped(path):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        listed.sort(key=lambda trial: trial.problem.key)  # the best of a problem stays first: it wins a tie
        write_text(path, _lines(to_document(listed)))
        written.append(path)
    return written


def _shipped(path: Path) -> set[tuple[Any, ...]]:
    """The identities of the trials that a file has; none if it cannot be read."""
    try:
        return {_identity(trial) for trial in from_document(read_document(path))}
    except (OSError, ValueError):
        return set()


def _identity(trial: Trial) -> tuple[Any, ...]:
    return (
        trial.problem.key,
        trial.schedule_digest,
        trial.samples,
        trial.program_digest,
        trial.machine_code_digest,
        trial.created_at,
    )


def _reduced(trial: Trial) -> Trial:
    """The trial without what only people look at; of its samples the least, the quartiles and the largest."""
    samples = trial.samples
    if len(samples) > 5:
        samples = (min(samples), *quantiles(samples, n=4, method="inclusive"), max(samples))
    return replace(
        trial,
        samples=tuple(map(_rounded, samples)),
        max_error=None,
        conditions={},
        comparison=trial.comparison and _rounded_comparison(trial.comparison),
        created_at=trial.created_at.replace(microsecond=0),
    )


def _rounded_comparison(comparison: BaselineTimes) -> BaselineTimes:
    others = {name: _rounded(seconds) for name, seconds in comparison.others.items()}
    return BaselineTimes(_rounded(comparison.own), others, comparison.libraries)


def _rounded(seconds: float) -> float:
    return round(seconds, _DIGITS) or seconds


def _lines(document: Mapping[str, Any]) -> str:
    """The document with packed lists, a row on each line: a change of one trial is a change of one line."""
    lists = {name: packed(document[name]) for name in ("problems", "trials")}
    parts = [f'"version": {document["version"]}', f'"devices": {_compact(document["devices"])}']
    for name, content in lists.items():
        rows = ",\n".join(map(_compact, content["each"]))
        parts.append(f'"{name}": {{"common": {_compact(content["common"])}, "each": [\n{rows}]}}')
    return "{" + ",\n".join(parts) + "}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
