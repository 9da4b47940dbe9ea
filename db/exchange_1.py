"""Documents of version 1, as documents of version 2.

Version 1 had a digest of the source where version 2 has that of the program, a digest of the whole generator, and in a
trial's environment also the device's conditions, the schedule that was preferred to it and a comparison with baselines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CONDITIONS = ("sm_mhz", "memory_mhz", "celsius", "clock_event_reasons")


def upgraded_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with what version 2 names otherwise; what is wrong with it is left for its reader to find."""
    trials = document.get("trials")
    renewed = [_trial(trial) for trial in trials] if isinstance(trials, list) else trials
    return {**document, "version": 2, **({"trials": renewed} if "trials" in document else {})}


def _trial(trial: Any) -> Any:
    if not (isinstance(trial, Mapping) and isinstance(trial.get("environment"), Mapping)):
        return trial
    values, environment = dict(trial), dict(trial["environment"])
    values.pop("generator", None)
    if "source" in values:
        values["program_digest"] = values.pop("source")
    return {
        **values,
        "conditions": {name: environment.pop(name) for name in _CONDITIONS if name in environment},
        "lost_to": environment.pop("lost_to", ""),
        "comparison": environment.pop("contest", None),
        "environment": environment,
    }
