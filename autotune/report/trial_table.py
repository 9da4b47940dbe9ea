"""The trials of a group as columns, short enough for a page with ten thousand of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotune.codegen.model.schedule import Schedule
from autotune.db.trials import Trial
from autotune.search_spaces.machine.occupancy import occupancy

from .resources import compiled_footprint, count
from .subject import Group

FEWEST_IMPORTANT = 20  # trials for importances: PED-ANOVA looks at the best tenth, which must be more than one
_DIGITS = 5  # digits of a time
_METRICS = {
    "registers": "registers of a thread",
    "spilled": "spilled bytes of a thread",
    "shared": "shared memory of a block (KiB)",
    "blocks": "resident blocks per SM",
    "occupancy": "occupancy (% of an SM's warps)",
}


def trial_table(group: Group, most: int) -> dict[str, Any]:
    """Up to `most` trials: the fastest ones as one half, and the others evenly over time.

    Returns:
        JSON values: of each trial ``number`` (from 1), ``micros`` (null without a time) and ``begun`` (seconds since
        the first trial); ``status``, ``fields`` and ``metrics``. The status and each field are coded: ``values``, and
        for each trial the ``codes`` that are positions in them, -1 for a schedule without the field or of another
        version. A metric has ``numbers``, null where it is not known.
        ``energy`` has ``millijoules``, null where they were not measured, and ``front``, the positions of the trials on
        the Pareto front of time and energy.
    """
    numbers = _chosen(group.trials, most)
    trials = [group.trials[number] for number in numbers]
    schedules = [group.known.schedule(trial.schedule) for trial in trials]
    first = group.trials[0].created_at
    return {
        "number": [number + 1 for number in numbers],
        "micros": [trial.seconds and float(f"{trial.seconds * 1e6:.{_DIGITS}g}") for trial in trials],
        "begun": [round((trial.created_at - first).total_seconds(), 1) for trial in trials],
        "status": _coded("status", [str(trial.status) for trial in trials]),
        "fields": _fields(group, schedules),
        "metrics": _metrics(group, trials, schedules),
        "energy": _energy(trials),
    }


def _energy(trials: Sequence[Trial]) -> dict[str, Any]:
    """Few trials have any, and what finds their front takes seconds to import."""
    millijoules = [trial.joules and float(f"{trial.joules * 1e3:.{_DIGITS}g}") for trial in trials]
    if not any(millijoules):
        return {"millijoules": [], "front": []}
    from .pareto import front

    return {"millijoules": millijoules, "front": front(trials)}


def _chosen(trials: Sequence[Trial], most: int) -> list[int]:
    """The positions of the trials that the page has."""
    if len(trials) <= most:
        return list(range(len(trials)))
    timed = sorted((trial.seconds, number) for number, trial in enumerate(trials) if trial.ok and trial.seconds)
    kept = {number for _, number in timed[: most // 2]}
    others = [number for number in range(len(trials)) if number not in kept]
    step = len(others) / (most - len(kept))
    return sorted(kept | {others[int(position * step)] for position in range(most - len(kept))})


def _fields(group: Group, schedules: Sequence[Schedule | None]) -> list[dict[str, Any]]:
    """A column for each field of some kernel's schedules; other kernels' have no value there."""
    kinds = group.known.operator.schedule_types
    short = {name: word for kind in kinds for word, name in kind.short_names().items()}
    defaults = {name: default for kind in reversed(kinds) for name, default in kind().to_dict().items()}
    rows = [schedule and schedule.to_dict() for schedule in schedules]
    return [
        {"label": short.get(name, name), "default": default} | _coded(name, [row and row.get(name) for row in rows])
        for name, default in defaults.items()
    ]


def _coded(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """A column by the positions of its values among those that there are."""
    known = sorted({value for value in values if value is not None})
    code = {value: position for position, value in enumerate(known)} | {None: -1}
    return {"name": name, "values": known, "codes": [code[value] for value in values]}


def _metrics(group: Group, trials: Sequence[Trial], schedules: Sequence[Schedule | None]) -> list[dict[str, Any]]:
    """What is known of each kernel but its time."""
    rows = [_row(group, trial, schedule) for trial, schedule in zip(trials, schedules, strict=True)]
    return [
        {"name": name, "label": label, "numbers": list(numbers)}
        for (name, label), numbers in zip(_METRICS.items(), zip(*rows, strict=True), strict=True)
    ]


def _row(group: Group, trial: Trial, schedule: Schedule | None) -> tuple[float | None, ...]:
    block = compiled_footprint(group.known, schedule, trial.resources)
    if block is None:
        return (None,) * len(_METRICS)
    found = occupancy(group.known.spec, block.threads, block.registers, block.shared_bytes)
    spilled = count(trial.resources, "spill_store_bytes") + count(trial.resources, "spill_load_bytes")
    shared = round(block.shared_bytes / 1024, 2)
    return block.registers, spilled, shared, found.blocks_per_sm, round(100 * found.fraction, 1)
