"""Runs: stored when they begin and when they end, and seen to be over when their process is gone."""

import multiprocessing
import os
import signal
from datetime import timedelta

import pytest
from trial_factory import LARGE, NOON, trial

from autotune.db import Outcome, RunRecord, Status, TuningDB
from autotune.db.models import RunRow


def run_record(run="0123abcd", minutes=0, **changes):
    values = {
        "command": "autotune tune sgemm",
        "operator": "sgemm",
        "options": {"trials": 200},
        "sampler": "bayes",
        "seed": 7,
        "devices": [{"selector": "0", "model": "NVIDIA H200", "driver": "580.159"}],
        "id": run,
        "begun_at": NOON + timedelta(minutes=minutes),
    }
    return RunRecord(**(values | changes))


def test_a_run_is_stored_when_it_begins_and_when_it_ends(db):
    begun = run_record()
    with db.running(begun):
        db.record(trial("a", run=begun.id))
        (going_on,) = db.runs()
        assert (going_on.state, going_on.counts, going_on.seconds) == ("running", {"ok": 1}, None)
        db.record(trial("b", run=begun.id, status=Status.WRONG, samples=()))
        db.end_run(begun.id, Outcome.FAILED, "it fell off the bus")
    (ended,) = db.runs()
    for name in ("id", "command", "operator", "options", "sampler", "seed", "devices", "begun_at"):
        assert getattr(ended, name) == getattr(begun, name)
    assert (ended.state, ended.error, ended.counts) == ("failed", "it fell off the bus", {"ok": 1, "wrong": 1})
    assert ended.seconds > 0


def test_a_trial_that_is_tried_again_belongs_to_the_newest_run(db):
    for run, minutes in (("0000000a", 0), ("0000000b", 1)):
        with db.running(run_record(run, minutes)):
            db.record(trial("same", minutes=minutes, run=run))
            db.record(trial(run, 2e-3, minutes=minutes, run=run))
            db.end_run(run, Outcome.DONE)
    assert [one.id for one in db.runs()] == ["0000000b", "0000000a"]
    assert [one.id for one in db.runs(limit=1)] == ["0000000b"]
    assert [one.counts for one in db.runs()] == [{"ok": 2}, {"ok": 2}], "what a run did stays true"
    assert [one.schedule_digest for one in db.trials(run="0000000a")] == ["0000000a"]
    assert {one.schedule_digest for one in db.trials(run="0000000b")} == {"same", "0000000b"}
    assert [one.schedule_digest for one in db.bests(run="0000000a")] == ["0000000a"]
    assert [one.schedule_digest for one in db.bests(run="0000000b")] == ["same"]
    assert [one.schedule_digest for one in db.bests()] == ["same"]


@pytest.mark.usefixtures("made_up_trials")
def test_a_trial_from_elsewhere_belongs_to_no_run(db):
    with db.running(run_record()):
        db.record(trial("a", run="0123abcd"))
        db.record(trial("b", run="of another database"))
    assert [one.run for one in db.trials()] == [None, "0123abcd"]
    document = db.export()
    assert "run" not in document["trials"][0]
    with TuningDB("sqlite://") as faster:
        faster.record(trial("a", 1e-4))
        db.merge(faster.export())
    assert [one.run for one in db.trials()] == [None, None]


def test_what_is_noted_of_a_trial_leaves_it_to_its_run(db):
    with db.running(run_record()):
        db.record(trial("a", run="0123abcd"))
    (stored,) = db.trials()
    db.record(stored.compared(None))
    assert [one.run for one in db.trials()] == ["0123abcd"]


def test_a_run_is_named_by_its_first_digits(db):
    for run in ("01230000", "01240000"):
        with db.running(run_record(run)):
            db.end_run(run, Outcome.DONE)
    assert db.run("0124").id == db.run("01240000").id == "01240000"
    for name, why in (
        ("012", "begins with: 01230000, 01240000"),
        ("9", "is none"),
        ("", "is none"),
        ("%", "is none"),
        ("\udcff", "is none"),
    ):
        with pytest.raises(ValueError, match=f"expected the id of one run, .*; this {why}"):
            db.run(name)


def begin_and_die(url, barrier):
    with TuningDB(url) as db, db.running(run_record()):
        db.record(trial("a", run="0123abcd", problem=LARGE))
        barrier.wait(timeout=60)
        barrier.wait(timeout=60)
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_run_whose_process_was_killed_is_seen_as_such(url, tmp_path):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["test_db_runs"])
    barrier = context.Barrier(2)
    process = context.Process(target=begin_and_die, args=(url, barrier))
    process.start()
    barrier.wait(timeout=60)
    with TuningDB(url) as db:
        assert [one.state for one in db.runs()] == [one.state for one in db.runs()] == ["running"]
        barrier.wait(timeout=60)
        process.join()
        while url.startswith("postgres") and db.runs()[0].alive:
            pass  # the server is about to notice
        (killed,) = db.runs()
    assert (killed.state, killed.counts, killed.ended_at) == ("killed", {"ok": 1}, None)
    assert not list(tmp_path.rglob("*.run"))


def test_the_id_of_a_foreign_run_names_no_file(tmp_path):
    """A database from elsewhere may have any text as an id, and the lock of a run is a file of its name."""
    precious, file = tmp_path / "precious.run", tmp_path / "foreign.sqlite3"
    precious.write_text("precious")
    (tmp_path / "foreign.sqlite3.studies").mkdir()
    with TuningDB(str(file)) as db:
        for name in ("../precious", "01230000"):
            db._write(lambda session, name=name: session.add(RunRow.of(run_record(name))))
        assert [(one.id, one.state) for one in db.runs()] == [("01230000", "killed")]
        with pytest.raises(ValueError, match="expected the id of one run"):
            db.run("../precious")
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("changes", [{"id": ""}, {"command": None}, {"options": []}, {"devices": [1]}, {"counts": 5}])
def test_a_run_with_wrong_values_cannot_be_made(changes):
    with pytest.raises(ValueError, match="expected"):
        run_record(**changes)
