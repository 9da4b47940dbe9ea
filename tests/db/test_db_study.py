"""Tuners share a study: each schedule is one tuner's until it is tried, given back, or left by who is over or hangs."""

import multiprocessing
import os
import signal
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

import pytest
from sqlalchemy import event, text
from sqlalchemy.orm import Session
from trial_factory import H200, LARGE, NOON, SMALL, trial

from autotune.db import DatabaseError, Outcome, RunRecord, Status, TuningDB, engine, stored_study
from autotune.db.models import RunRow


@dataclass(frozen=True)
class Named:
    """As much of a schedule as a study looks at."""

    digest: str

    def to_dict(self):
        return {"name": self.digest}


A, B = Named("a"), Named("b")


@pytest.fixture
def runs(db, monkeypatch):
    """A function that begins a run and opens its part in the study; its `close` ends the run as a kill would."""
    monkeypatch.setattr(stored_study, "_LOOK", 0.0)
    with ExitStack() as stack:

        def begin():
            run = RunRecord("", "toy", {}, "random", 0, [])
            life = stack.enter_context(ExitStack())
            life.enter_context(db.running(run))
            study = stored_study.StoredStudy(db, "s", H200, SMALL, run.id)
            study.close = life.close
            return study

        yield begin


def tried(schedule, seconds=1e-3, **changes):
    return trial(schedule.digest, seconds, schedule=schedule.to_dict(), **changes)


def names(listed):
    return [fields["name"] for fields in listed]


def test_a_schedule_is_one_tuners_until_it_has_ended_and_others_hear_of_both_once(db, runs, monkeypatch):
    one, other = runs(), runs()
    assert one.claim(A) and one.claim(A)
    assert not other.claim(A)
    assert names(other.news().claimed) == ["a"] and names(one.news().claimed) == []
    commits = []
    event.listen(db._engine, "commit", commits.append)
    assert one.end(tried(A)) == 0
    assert len(commits) == 1
    assert not other.claim(A), "it has ended since the other one last asked"
    assert other.claim(B)
    assert other.end(tried(B, status=Status.WRONG, samples=())) == 1
    assert one.news(last=0).ended == [({"name": "a"}, 1e-3)]
    assert one.news() == ([], [], [({"name": "b"}, None)])
    assert one.news() == ([], [], [])
    monkeypatch.setattr(stored_study, "_LOOK", 1e9)
    later = runs()
    assert later.news() == ([], [], [])
    assert later.claim(A), "whether what ended before still counts is not the study's to say"
    assert names(other.news().claimed) == ["a"]
    assert names(other.news().claimed) == [], "it is no news"


def test_what_is_given_back_is_free_as_often_as_that_happens(db, runs):
    for _ in range(5):
        study = runs()
        assert names(study.news().free) in ([], ["a"])
        assert study.claim(A)
        study.give_back()
    with db.study("s", H200, SMALL, study._run) as opened:
        assert opened.claim(B)
    assert names(runs().news().free) == ["a", "b"]


def test_what_is_free_comes_in_the_order_of_its_claims(runs):
    study = runs()
    for name in "cab":
        assert study.claim(Named(name))
    study.give_back()
    assert names(runs().news().free) == ["c", "a", "b"]


def test_what_a_dead_tuner_left_is_free_but_not_after_four(runs):
    for _ in range(4):
        study = runs()
        study.news()
        assert study.claim(A)
        assert runs().news().free == []
        study.close()
    last = runs()
    assert (last.news().free, last.claim(A)) == ([], False)


def test_a_hung_tuners_claim_ends_with_its_lease_and_what_it_ends_later_is_stored(db, runs, monkeypatch):
    hung, working, other = runs(), runs(), runs()
    monkeypatch.setattr(stored_study, "LEASE", timedelta(0))
    assert hung.claim(A) and working.claim(B)
    monkeypatch.undo()
    working._renew_at = 0.0  # a quarter of the lease later
    working.end(tried(Named("c")))
    monkeypatch.setattr(stored_study, "_LOOK", 0.0)
    assert names(other.news().free) == ["a"]
    assert other.claim(A) and not other.claim(B)
    hung.end(tried(A))
    other.end(tried(A, 2e-3))
    assert {one.schedule_digest: one.seconds for one in db.trials()} == {"a": 2e-3, "c": 1e-3}


def test_pruning_removes_what_is_left_of_studies_unless_a_run_may_need_it(db, runs):
    study = runs()
    study.claim(A)
    study.give_back()
    with db._engine.begin() as connection:
        connection.execute(text("UPDATE claims SET until = '2026-01-01 00:00:00'"))

    def left():
        with db._engine.connect() as connection:
            return [
                connection.scalar(text(f"SELECT count(*) FROM {name}")) for name in ("claims", "studies", "problems")
            ]

    db.prune(remove=True)
    assert left() == [1, 1, 1]
    db.end_run(study._run, Outcome.DONE)
    db.prune(remove=True)
    assert left() == [0, 0, 0]


def test_on_a_server_a_study_holds_off_those_of_its_problem_and_who_needs_all(postgres, monkeypatch):
    url = postgres.new_database()
    with TuningDB(url) as first, monkeypatch.context() as patch:
        patch.setattr(engine, "BUSY_SECONDS", 0.1)
        second = TuningDB(url)
        patch.undo()
        with second:

            def while_held(session):
                session.connection()
                second._write(Session.connection, 2)
                for refused in (1, None):
                    with pytest.raises(DatabaseError, match="was locked by another process"):
                        second._write(Session.connection, refused)

            first._write(while_held, 1)


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
