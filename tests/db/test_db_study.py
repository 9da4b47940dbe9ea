"""Tuners share a study: each schedule is one tuner's until it is tried, given back, or left by who is over or hangs."""

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

import pytest
from sqlalchemy import event, text
from sqlalchemy.orm import Session
from trial_factory import H200, SMALL, trial

from autotune.db import DatabaseError, Outcome, RunRecord, Status, TuningDB, engine, stored_study


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
