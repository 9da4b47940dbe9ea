"""Failed trials by cause."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from autotune.db.trials import Trial

_NUMBER = re.compile(r"0x[0-9a-f]+|\d[\d.]*(?:e[+-]?\d+)?")
_MOST = 40


def failures(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """The causes of failures, the most frequent first.

    Errors that differ in numbers only have one cause, and the newest of them stands for all.

    Returns:
        JSON values: ``status``, ``count``, ``error`` and ``schedule`` (the stored fields) of the newest.
    """
    causes: dict[tuple[str, str], dict[str, Any]] = {}
    for trial in trials:
        if not trial.ok:
            cause = causes.setdefault((str(trial.status), _NUMBER.sub("#", trial.error)), {"count": 0})
            newest = {"status": trial.status, "error": trial.error or "no error text", "schedule": trial.schedule}
            cause |= {"count": cause["count"] + 1, **newest}
    return sorted(causes.values(), key=lambda cause: -cause["count"])[:_MOST]
