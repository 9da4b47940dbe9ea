"""Failed candidates leave what is needed to run them again."""

import errno
from dataclasses import replace

import pytest
from tuner_fakes import SEEDS, TOY, ToyProblem, emit

from autotune.db import Status, exchange
from autotune.devices.base import Evaluation
from autotune.runs import failure_report
from autotune.runs.failure_report import FailureReport, failures_folder
from autotune.tuner import TuneOptions, tune

PROBLEM = ToyProblem(8)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))


def second_is_wrong(schedule):
    return Evaluation(Status.WRONG, error="wrong: 1 of 8") if schedule == SEEDS[1] else None


def test_a_failed_candidate_leaves_a_report_and_a_good_one_none(device, db):
    device.outcome = second_is_wrong
    tune(TOY, PROBLEM, device, db, TuneOptions(trials=3, seed=11))
    (path,) = failures_folder().iterdir()
    (failed,) = db.trials(status=Status.WRONG)
    assert FailureReport.read(path) == FailureReport(
        replace(failed, run=None), "h200", 11, emit(PROBLEM, SEEDS[1]).source
    )


def test_a_schedule_that_fails_on_two_problems_leaves_two_reports(device, db):
    device.outcome = lambda schedule: Evaluation(Status.WRONG, error="wrong: 1 of 8")
    for problem in (PROBLEM, ToyProblem(9)):
        tune(TOY, problem, device, db, TuneOptions(trials=1))
    assert len(list(failures_folder().glob("*.json"))) == 2


def test_the_newest_reports_stay(device, db, monkeypatch):
    monkeypatch.setattr(failure_report, "_MOST", 2)
    device.outcome = lambda schedule: Evaluation(Status.WRONG, error="wrong: 1 of 8")
    tune(TOY, PROBLEM, device, db, TuneOptions(trials=5))
    kept = {FailureReport.read(path).trial.schedule_digest for path in failures_folder().iterdir()}
    assert len(kept) == 2
    assert kept <= {trial.schedule_digest for trial in db.trials(limit=3)}


def test_a_full_disk_does_not_end_the_run(device, db, monkeypatch):
    def full(path, document):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(exchange, "write_document", full)
    device.outcome = second_is_wrong
    assert tune(TOY, PROBLEM, device, db, TuneOptions(trials=3)).evaluated == 3
