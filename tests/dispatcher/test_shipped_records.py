"""What a fresh install serves without tuning."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.db import TuningDB
from autotune.db.states import TimeSource
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.registry import operator

LIMITS = named_device("h200")


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("sgemm", {"m": 4096, "n": 4096, "k": 4096}), ("transpose", {"m": 16384, "n": 32768})],
)
def test_an_h200_has_measured_records_that_are_legal(
    name: str, sizes: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUTOTUNE_PRETUNED")
    chosen = operator(name)
    problem = chosen.problem_type(**sizes)
    with TuningDB(str(tmp_path / "fresh.sqlite3")) as db:
        best = db.best(name, problem.key, LIMITS.name)
    assert best is not None
    assert best.time_source is TimeSource.MEASURED
    assert chosen.violations(problem, chosen.schedule_type.from_dict(best.schedule), LIMITS) == []
