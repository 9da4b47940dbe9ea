"""record: the file that it writes, and what it refuses. Measuring itself is a stand-in."""

import json
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial, TuningDB
from autotune.db.recording import read_recording
from autotune.devices import sanitizer, select
from autotune.devices.base import Evaluation
from autotune.devices.offline import OfflineSession
from autotune.runs.failure_report import FailureReport
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
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

    def __init__(self):
        self.count = 0
        self.interrupted = False
        self.status = Status.OK

    def __call__(self, operator, problem, device, db, schedules, show, run):
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
def measured(monkeypatch):
    stand_in = Measured()
    monkeypatch.setattr(measuring, "record", stand_in)
    return stand_in


def test_it_writes_a_recording_and_says_what_is_in_it(autotune, measured, tmp_path):
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
def test_what_cannot_be_recorded_is_refused(autotune, measured, tmp_path, words, code, message):
    outcome = autotune(*UNRESTRICTED, *words, "-o", str(tmp_path / "r.jsonl.gz"))
    assert (outcome.code, outcome.stdout) == (code, "")
    assert message in outcome.stderr.splitlines()[-1]
    assert not list(tmp_path.glob("r.*"))


def test_interrupted_or_fruitless_it_leaves_no_file(autotune, measured, tmp_path):
    path = tmp_path / "r.jsonl.gz"
    measured.interrupted = True
    outcome = autotune(*RECORD, "-o", str(path))
    assert (outcome.code, path.exists()) == (130, False)
    assert "interrupted with 3 of 24 schedules measured; the same command continues" in outcome.stderr
    measured.interrupted, measured.status = False, Status.WRONG
    outcome = autotune(*RECORD, "-o", str(path))
    assert (outcome.code, path.exists()) == (1, False)
    assert "no schedule worked" in outcome.stderr


H200 = named_device("h200")
TRANSPOSE = operator("transpose")
PROBLEM = TRANSPOSE.problem_type(40, 30)
SCHEDULE = TRANSPOSE.default(PROBLEM, H200)
SOURCE = TRANSPOSE.program(PROBLEM, SCHEDULE, H200)


def report(**changes):
    trial = Trial(
        device=DeviceRecord(H200.name, H200.compute_capability, asdict(H200) | {"compute_capability": [9, 0]}),
        problem=ProblemRecord("transpose", PROBLEM.key, PROBLEM.to_dict()),
        schedule=SCHEDULE.to_dict(),
        schedule_digest=SCHEDULE.digest,
        status=Status.WRONG,
        time_source=TimeSource.MODELLED,
        error="wrong: 1 of 1200 elements",
        program_digest=SOURCE.digest,
    )
    return FailureReport(replace(trial, **changes), "h200", 3, SOURCE.source)


def written(failure):
    path = failure.write()
    assert path
    return str(path)


@pytest.fixture
def outcomes(monkeypatch):
    """A function that says what the device finds, which is in this process."""
    monkeypatch.setattr(select, "worker_device", lambda selector, **_: nullcontext(select.device(selector)))

    def set_outcome(found):
        monkeypatch.setattr(OfflineSession, "evaluate", lambda *_: found)

    return set_outcome


def test_a_candidate_that_works_now_is_a_success(autotune, environment):
    outcome = autotune("replay", written(report()), "--json")
    assert outcome.code == 0
    recorded, replayed = outcome.json["recorded"], outcome.json["replayed"]
    assert (recorded["status"], replayed["status"]) == ("wrong", "ok")
    assert outcome.json["same_program"] is True
    with TuningDB(str(environment)) as db:
        assert db.trials() == []


def test_a_candidate_that_fails_again_is_a_failure(autotune, outcomes):
    outcomes(Evaluation(Status.CRASHED, error="the process for measuring ended by SIGSEGV"))
    outcome = autotune("replay", written(report(program_digest="0" * 64)))
    assert outcome.code == 1
    assert "wrong: 1 of 1200 elements" in outcome.stdout
    assert "emits another program today" in outcome.stdout
    assert outcome.stderr == "autotune: crashed: the process for measuring ended by SIGSEGV\n"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"seed": -1}, "seed=-1: expected 0 … 2147483647"),
        ({"seed": True}, "seed=True"),
        ({"device": 5}, "device=5"),
        ({"device": "h300"}, "unknown device 'h300'"),
        ({"device": "replay:/dev/stdin"}, "it failed on 'replay:/dev/stdin': name that recording by --device"),
        ({"version": 2}, "version 2, expected 1"),
        ({"record": []}, "the record: not an export"),
        ({"more": 1}, "is no failure report"),
    ],
)
def test_a_report_that_is_wrong_is_refused(autotune, tmp_path, changes, complaint):
    file = tmp_path / "report.json"
    file.write_text(json.dumps(json.loads(Path(written(report())).read_text()) | changes))
    assert complaint in autotune("replay", str(file)).refusal


@pytest.mark.parametrize(
    ("failure", "complaint"),
    [
        (report(schedule={"tile_m": 10**9}), "8000000000 threads over the 1024 of a block"),
        (report(schedule={"nonsense": 1}), "unknown field 'nonsense'"),
        (report(problem=ProblemRecord("nosuch", "m1", {})), "unknown operator 'nosuch'"),
    ],
)
def test_a_candidate_that_cannot_be_is_refused(autotune, failure, complaint):
    assert complaint in autotune("replay", written(failure)).refusal


def test_a_file_that_is_not_there(autotune, tmp_path):
    outcome = autotune("replay", str(tmp_path / "none.json"))
    assert outcome.code == 2
    assert "expected a failure report of autotune tune" in outcome.stderr


def test_the_sanitizer_is_for_gpus_and_has_tools(autotune):
    path = written(report())
    assert "needs a GPU" in autotune("replay", path, "--sanitize", "memcheck").stderr
    assert "expected one of memcheck, racecheck" in autotune("replay", path, "--sanitize", "leakcheck").stderr


@pytest.mark.parametrize(("clean", "code"), [(True, 0), (False, 1)])
def test_the_sanitizer_watches_one_launch(autotune, monkeypatch, clean, code):
    watched = []

    def watch(tool, program):
        watched.extend([tool, *program])
        return clean, "the report\n"

    monkeypatch.setattr(sanitizer, "watched", watch)
    monkeypatch.setattr(select, "resolved", lambda selector: "1")
    monkeypatch.setattr(select, "selected_spec", lambda selector: H200)
    path = written(report())
    outcome = autotune("replay", path, "--device", "1", "--sanitize", "racecheck")
    assert (outcome.code, outcome.stdout) == (code, "the report\n")
    assert watched == ["racecheck", "-m", "autotune.tuner.failed_candidate", Path(path), "1"]
