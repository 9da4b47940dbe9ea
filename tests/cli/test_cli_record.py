"""record: the file that it writes, and what it refuses. Measuring itself is a stand-in."""

from pathlib import Path
from typing import Any

import pytest
from cli_command import Command

from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.db.recording import read_recording
from autotune.tuner import TuneResult
from autotune.tuner import record as measuring

WORDS = (
    "threads=128",
    "lanes_n=8",
    "micro_tiles=1,2",
    "raster_group=1",
    "min_blocks_per_sm=1",
    "vector_load=4",
    "vector_store=4",
)
UNRESTRICTED = ("record", "transpose", "--device", "h200", "--m", "512", "--n", "512")
RECORD = (*UNRESTRICTED, *WORDS)


class Measured:
    """Stands in for `tuner.record.record`: each schedule takes as long as its place in the list says."""

    def __init__(self) -> None:
        self.count = 0
        self.interrupted = False
        self.status = Status.OK

    def __call__(self, operator: Any, problem: Any, device: Any, db: Any, schedules: Any, show: Any, run: Any) -> Any:
        self.count = len(schedules)
        samples = ((1e-3,), (2e-3,), (3e-3,))
        trials = [
            Trial(
                DeviceRecord(device.spec.name, (9, 0), {}),
                ProblemRecord(operator.name, problem.key, problem.to_dict()),
                schedule.to_dict(),
                schedule.digest,
                self.status,
                TimeSource.MODELLED,
                sample if self.status is Status.OK else (),
            )
            for schedule, sample in zip(schedules, samples, strict=False)
        ]
        return TuneResult(None, len(trials), 0, {}, 0, 1.0, False, self.interrupted), trials


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measured:
    stand_in = Measured()
    monkeypatch.setattr(measuring, "record", stand_in)
    return stand_in


def test_it_writes_a_recording_and_says_what_is_in_it(autotune: Command, measured: Measured, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    outcome = autotune(*RECORD, "-o", str(path), "--json")
    assert outcome.json == {
        "recording": str(path), "bytes": path.stat().st_size, "schedules": 3, "ok": 3, "optimum": 1e-3, "slowest": 3e-3
    }  # fmt: skip
    assert len(read_recording(path)) == 3
    assert measured.count == 2 * 3 * 2 * 2  # micro-tiles, layouts, streaming, specialize
    assert "1 ms" in autotune(*RECORD, "-o", str(path), "--trials", "5").stdout
    assert measured.count == 5


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((*WORDS, "thread=1"), 2, "'thread=1' is not PARAMETER=VALUE,…"),
        (
            ("vector_load=4", "vector_store=4", "threads=512", "micro_tiles=8"),
            2,
            "none of the 2880 draws is legal for m512-n512-e4 on NVIDIA H200",
        ),
        ((*WORDS, "--device", "h300"), 2, "unknown device 'h300'"),
    ],
)
def test_what_cannot_be_recorded_is_refused(
    autotune: Command, measured: Measured, tmp_path: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    outcome = autotune(*UNRESTRICTED, *words, "-o", str(tmp_path / "r.jsonl.gz"))
    assert (outcome.code, outcome.stdout) == (code, "")
    assert message in outcome.stderr.splitlines()[-1]
    assert not list(tmp_path.glob("r.*"))


def test_interrupted_or_fruitless_it_leaves_no_file(autotune: Command, measured: Measured, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    measured.interrupted = True
    outcome = autotune(*RECORD, "-o", str(path))
    assert (outcome.code, path.exists()) == (130, False)
    assert "interrupted with 3 of 24 schedules measured; the same command continues" in outcome.stderr
    measured.interrupted, measured.status = False, Status.WRONG
    outcome = autotune(*RECORD, "-o", str(path))
    assert (outcome.code, path.exists()) == (1, False)
    assert "no schedule worked" in outcome.stderr
