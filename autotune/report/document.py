"""All that a report shows, as one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from autotune.base.version import own_version
from autotune.codegen.model.problem import Problem
from autotune.search_spaces.machine.roofline import Peaks, bounding_unit, operations, roofline

from .benches import compared_records
from .failures import failures
from .kernels import kernels
from .machine import Machine
from .subject import Group
from .trial_table import FEWEST_IMPORTANT, trial_table
from .winner import winner

if TYPE_CHECKING:
    from autotune.db import Trial
    from autotune.search_spaces.machine.calibration import Calibration

_MOST_TRIALS, _FEWEST = 12_000, 10  # trials of a page, and of a group
_DETAILED = 12  # groups with sources and importances: these cost kilobytes, and seconds


def document(
    title: str,
    facts: Sequence[tuple[str, Any]],
    groups: Sequence[Group],
    records: Sequence[Trial],
    benches: Sequence[dict[str, Any]] = (),
    calibrations: Mapping[str, Calibration] = MappingProxyType({}),
    profiles: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """A report as JSON values.

    Args:
        title: what it is about.
        facts: about the run: names and values.
        groups: the trials; the first group is shown first.
        records: the best trials of the device models of the groups, of every operator.
        benches: as `read_bench` gives them; what records say of baselines comes after those.
        calibrations: by device model; rooflines refer to them.
        profiles: as `read_profile` gives them.
    """
    total = sum(len(group.trials) for group in groups)
    specs = {group.known.spec.name: group.known.spec for group in groups}
    machines = {name: Machine(spec, calibrations.get(name)) for name, spec in specs.items()}
    shown = []
    for number, group in enumerate(groups):
        most = max(_MOST_TRIALS * len(group.trials) // total, _FEWEST)
        shown.append(_group(group, machines[group.known.spec.name], most, detailed=number < _DETAILED))
    return {
        "title": title,
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by autotune {own_version()}",
        "facts": [(name, str(value)) for name, value in facts],
        "groups": shown,
        "devices": {
            name: machine.document()
            | {"kernels": kernels((one for one in records if one.device.model == name), machine)}
            for name, machine in machines.items()
        },
        "benches": [*benches, *compared_records(records)],
        "profiles": list(profiles),
    }


def _group(group: Group, machine: Machine, most: int, *, detailed: bool) -> dict[str, Any]:
    known = group.known
    table = trial_table(group, most)
    return {
        "operator": known.operator.name,
        "problem": known.problem.key,
        "device": known.spec.name,
        "time_source": group.time_source,
        "roofline": _roofline(known.problem, machine.peaks),
        "counts": dict(Counter(str(trial.status) for trial in group.trials)),
        "trials": table,
        "importances": _importances(table) if detailed else [],
        "failures": failures(group.trials),
        "winner": winner(group, with_source=detailed),
    }


def _importances(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Of few trials there are none, and what computes them takes seconds to import."""
    if len(table["micros"]) < FEWEST_IMPORTANT:
        return []
    from .importance import importances

    return importances(table)


def _roofline(problem: Problem, peaks: Peaks) -> dict[str, Any]:
    """The least time, what bounds it, and the rate at that time."""
    seconds, unit = roofline(problem, peaks), bounding_unit(problem, peaks)
    amount, scale, symbol = (problem.work.bytes, 1e9, "GB/s")
    if unit is not None:
        amount, scale, symbol = (operations(problem.work, peaks)[unit], 1e12, f"T{unit.symbol}/s")
    bound = unit.label if unit else "device memory"
    return {"micros": seconds * 1e6, "bound": bound, "rate": amount / seconds / scale, "unit": symbol}
