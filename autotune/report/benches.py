"""Results of ``autotune bench``: how many times as fast as each baseline, and the energy of launches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from reprlib import repr as short
from statistics import geometric_mean
from typing import Any

from autotune.base.files import read_regular
from autotune.db.trials import Trial

from .members import member, text
from .winner import ratios

_MOST_BYTES = 64 << 20  # of a result


def read_bench(path: Path) -> dict[str, Any]:
    """A file that ``autotune bench -o`` wrote, as JSON values.

    Returns:
        ``title``, ``baselines`` (their summaries by name), ``means`` (geometric) and ``rows``, each with ``problem``,
        ``group``, ``ratios`` by baseline, and ``energy``: of each contender that was asked for it, joules and watts.

    Raises:
        OSError: the file cannot be read.
        ValueError: one line that says what is wrong with it.
    """
    try:
        document = json.loads(read_regular(path, _MOST_BYTES))
        title = f"{text(document, 'operator')} on {text(document, 'device')}, {text(document, 'taken_at')[:10]}"
        rows = [_row(run) for run in member(document, "runs", list)]
        summaries = member(document, "baselines", dict)
        return _bench(title, {str(name): str(summary) for name, summary in summaries.items()}, rows)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a result of autotune bench: {error}") from None


def compared_records(records: Iterable[Trial]) -> list[dict[str, Any]]:
    """What ``autotune bench --record`` stored in records, as `read_bench` has it, by operator and device model."""
    found: dict[str, list[dict[str, Any]]] = {}
    for trial in records:
        if compared := ratios(trial):
            title = f"{trial.problem.operator} on {trial.device.model}, as stored in the records"
            row = {"problem": trial.problem.key, "group": "", "ratios": compared, "energy": {}}
            found.setdefault(title, []).append(row)
    return [_bench(title, {}, rows) for title, rows in found.items()]


def _bench(title: str, summaries: Mapping[str, str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for row in rows for name in row["ratios"])
    means = {name: geometric_mean(row["ratios"][name] for row in rows if name in row["ratios"]) for name in names}
    return {"title": title, "baselines": dict(summaries), "means": means, "rows": rows}


def _row(run: Any) -> dict[str, Any]:
    compared = member(run, "ratios", dict)
    for name, ratio in compared.items():
        if not _positive(ratio):
            raise ValueError(f"the ratio to {short(name)} is {short(ratio)}: expected a number above 0")
    contenders = member(run, "contenders", dict).items()
    energy = {name: told for name, contender in contenders if (told := _energy(name, contender))}
    return {"problem": text(run, "problem"), "group": text(run, "group"), "ratios": compared, "energy": energy}


def _energy(name: str, contender: Any) -> list[float]:
    """Joules and watts, or nothing where they were not measured."""
    if not isinstance(contender, dict) or contender.get("energy") is None:
        return []
    energy = member(contender, "energy", dict)
    found = [energy.get("joules"), energy.get("watts")]
    if not all(map(_positive, found)):
        raise ValueError(f"the energy of {short(name)} is {short(energy)}: expected joules and watts above 0")
    return found


def _positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < float("inf")
