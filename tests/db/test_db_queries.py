"""What the database answers after what was recorded."""

from dataclasses import replace
from datetime import UTC, timedelta, timezone
from time import tzset

import pytest
from refusals import refused
from trial_factory import H200, LARGE, NOON, SMALL, T4, TRANSPOSE, trial

from autotune.db import Status, TimeSource

FAILURES = [status for status in Status if status is not Status.OK]


def best(db):
    return db.best(SMALL.operator, SMALL.key, H200.model)


def modelled(digest, seconds, **changes):
    return trial(digest, seconds, time_source=TimeSource.MODELLED, **changes)


def test_a_trial_comes_back_as_it_was(db):
    stored = trial(samples=(3e-3, 1e-3, 2.5e-3), error="two\nlines, ünicode", environment={"driver": "1", "deep": [1]})
    db.record(stored)
    assert db.trials() == [stored]
    assert stored.seconds == 2.5e-3


def test_nothing_is_best_in_an_empty_database(db):
    assert best(db) is None
    assert db.bests() == db.trials() == db.problems() == db.devices() == []


def test_best_is_the_fastest_ok_trial_of_the_problem_and_the_device(db):
    fastest = trial("b", 2e-3)
    others = [trial("c", 3e-3), trial("d", 1e-3, device=T4), trial("e", 1e-3, problem=LARGE)]
    failed = [trial(f"f{i}", 1e-4, status=status) for i, status in enumerate(FAILURES)]
    for one in [*others, fastest, *failed]:
        db.record(one)
    assert best(db) == fastest


@pytest.mark.parametrize("order", [1, -1])
def test_a_measured_time_beats_any_modelled_one(db, order):
    for one in [trial("a", 5.0), modelled("b", 1e-6)][::order]:
        db.record(one)
    assert best(db).schedule_digest == "a"


def test_a_modelled_time_is_best_where_nothing_ok_was_measured(db):
    db.record(modelled("b", 1e-6))
    db.record(trial("a", status=Status.WRONG))
    assert best(db).schedule_digest == "b"


def test_a_modelled_time_does_not_bring_back_a_schedule_that_failed_when_measured(db):
    db.record(trial("a", status=Status.WRONG))
    db.record(modelled("a", 1e-6, minutes=5))
    assert best(db) is None


def test_measuring_again_replaces_the_record_even_by_a_slower_or_a_failed_one(db):
    db.record(trial("a", 1e-3))
    db.record(trial("a", 2e-3, minutes=1))
    assert [one.seconds for one in db.trials()] == [2e-3]
    db.record(trial("a", status=Status.WRONG, samples=(), minutes=2))
    assert [one.status for one in db.trials()] == [Status.WRONG]
    assert best(db) is None


@pytest.mark.parametrize("member", ["compiler", "program_digest"])
def test_another_compiler_or_program_makes_another_trial_and_the_newest_is_the_verdict(db, member):
    db.record(trial("a", 1e-3, **{member: "old"}))
    db.record(trial("a", 2e-3, **{member: "new"}, minutes=1))
    assert len(db.trials()) == 2
    assert getattr(best(db), member) == "new"
    db.record(trial("a", **{member: "newer"}, status=Status.WRONG, minutes=2))
    assert best(db) is None


def test_the_trials_of_the_compiler_in_use_come_before_all_others(db):
    db.record(trial("a", 1e-3, compiler="old"))
    db.record(trial("b", 2e-3, compiler="new"))
    names = (SMALL.operator, SMALL.key, H200.model)
    assert [db.best(*names, compiler).schedule_digest for compiler in ("old", "new", "other", None)] == list("abaa")
    assert [db.bests(compiler=one)[0].schedule_digest for one in ("old", "new")] == ["a", "b"]
    db.record(modelled("c", 1e-6, compiler="newest"))
    assert db.best(*names, "newest").schedule_digest == "a"


def test_one_that_lost_a_final_stays_behind_the_winner_as_long_as_that_is_ok(db):
    lost = {"lost_to": "b"}
    db.record(trial("a", 1e-3, **lost))
    db.record(trial("b", 2e-3))
    db.record(trial("c", 4e-3))
    db.record(trial("d", 3e-3))

    def names():
        ranked = db.ranked("sgemm", SMALL.key, H200.model, "NVRTC 13.0", TimeSource.MEASURED)
        assert db.best("sgemm", SMALL.key, H200.model) == ranked[0] == db.bests()[0]
        return [one.schedule_digest for one in ranked]

    assert names() == ["b", "d", "c", "a"]
    db.record(trial("b", status=Status.WRONG, samples=()))
    assert names() == ["a", "d", "c"]
    db.record(trial("b", 2e-3, compiler="NVRTC 12.9"))  # another kernel
    assert names()[0] == "a"
    db.record(trial("b", 2e-3, problem=LARGE))
    assert db.best("sgemm", SMALL.key, H200.model).schedule_digest == "a"


def test_two_that_lost_to_each_other_are_told_apart_by_their_times(db):
    """As merging the records of two hosts may have it."""
    db.record(trial("a", 2e-3, lost_to="b"))
    db.record(trial("b", 1e-3, lost_to="a"))
    assert db.best("sgemm", SMALL.key, H200.model).schedule_digest == "b"


def test_ranked_and_tried_are_of_one_place_and_kind(db):
    made = [trial("a", minutes=2), trial("b", minutes=1, status=Status.WRONG, samples=(), error="off")]
    modelled = trial("c", 1e-9, time_source=TimeSource.MODELLED)
    for one in [*made, modelled, trial("d", device=T4), trial("e", problem=LARGE), trial("f", compiler="NVRTC 12.9")]:
        db.record(one)
    place = ("sgemm", SMALL.key, H200.model, "NVRTC 13.0", TimeSource.MEASURED)
    assert db.ranked(*place) == [made[0], trial("f", compiler="NVRTC 12.9")]
    assert db.ranked(*place, 1) == made[:1]
    tried = list(db.tried(*place))
    assert [one.schedule_digest for one in tried] == ["b", "a"]
    assert all(getattr(tried[1], name) == getattr(made[0], name) for name in vars(tried[1]) if name != "study")


def test_a_clock_that_jumps_back_loses_nothing(db):
    db.record(trial("a", 1e-3, compiler="old", minutes=60))
    db.record(trial("a", 2e-3, compiler="new", minutes=50))
    db.record(trial("a", 3e-3, compiler="new", minutes=0))
    assert sorted(one.seconds for one in db.trials()) == [1e-3, 3e-3]
    assert db.best(SMALL.operator, SMALL.key, H200.model, "new").seconds == 3e-3


def test_bests_has_one_trial_for_each_problem_and_device(db):
    for device in (H200, T4):
        for problem in (SMALL, LARGE, TRANSPOSE):
            db.record(trial("slow", 2e-3, device=device, problem=problem))
            db.record(trial("fast", 1e-3, device=device, problem=problem))
    places = [(one.device, one.problem, one.schedule_digest) for one in db.bests()]
    assert sorted(map(repr, places)) == sorted(
        repr((device, problem, "fast")) for device in (H200, T4) for problem in (SMALL, LARGE, TRANSPOSE)
    )
    assert len(db.bests(operator="sgemm")) == 4
    assert [one.problem for one in db.bests("transpose", T4.model)] == [TRANSPOSE]
    assert db.bests("unknown") == db.bests(device="unknown") == []


def test_winners_are_the_schedules_that_rank_first_fresh_or_not(db):
    for problem, fastest in ((SMALL, 1), (LARGE, 2)):
        db.record(trial("stale", fastest * 1e-3, problem=problem, schedule={"tile": fastest}, program_digest="other"))
        db.record(trial("slow", 3e-3, problem=problem, schedule={"tile": 3}))
    db.record(trial("elsewhere", 1e-4, device=T4))
    winners = db.winners("sgemm", H200.model)
    assert sorted(winners, key=repr) == sorted(
        ((one.fields, {"tile": t}) for one, t in ((SMALL, 1), (LARGE, 2))), key=repr
    )
    assert db.winners("transpose", H200.model) == []


def test_a_shape_specialised_best_is_served_with_the_best_that_is_shape_generic(db):
    for digest, seconds, specialize in (("a", 1e-3, "shape"), ("b", 3e-3, "none"), ("c", 2e-3, "none")):
        db.record(trial(digest, seconds, schedule={"specialize": specialize}))
    db.record(trial("d", problem=LARGE, schedule={"specialize": "none"}))
    assert [one.schedule_digest for one in db.bests()] == ["a", "d"]
    assert [one.schedule_digest for one in db.serving()] == ["a", "d", "c"]


def test_two_operators_may_have_problems_of_one_key(db):
    other = replace(TRANSPOSE, key=SMALL.key)
    db.record(trial("a"))
    db.record(trial("b", problem=other))
    assert db.problems() == [SMALL, other]
    assert db.best(other.operator, other.key, H200.model).schedule_digest == "b"
    assert len(db.export()["problems"]) == 2


def test_trials_are_filtered_and_come_newest_first(db):
    db.record(trial("a", minutes=2))
    db.record(trial("b", minutes=3, status=Status.TIMEOUT, device=T4))
    db.record(trial("c", minutes=1, problem=LARGE))
    db.record(trial("d", minutes=0, problem=TRANSPOSE))

    def digests(**filters):
        return "".join(one.schedule_digest for one in db.trials(**filters))

    assert digests() == "bacd"
    assert digests(limit=2) == "ba"
    assert digests(operator="sgemm") == "bac"
    assert digests(operator="sgemm", key=SMALL.key) == "ba"
    assert digests(device=T4.model) == digests(status=Status.TIMEOUT) == "b"
    assert digests(operator="transpose", status=Status.TIMEOUT) == ""


def test_problems_and_devices_are_listed_once(db):
    for digest in "ab":
        for problem in (TRANSPOSE, SMALL):
            for device in (T4, H200):
                db.record(trial(digest, problem=problem, device=device))
    assert db.problems() == [SMALL, TRANSPOSE]
    assert db.problems("transpose") == [TRANSPOSE]
    assert db.devices() == [H200, T4]


@pytest.fixture
def far_east(monkeypatch):
    """A time zone of the machine that is not UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        tzset()
        yield
    tzset()


@pytest.mark.usefixtures("far_east")
def test_times_are_stored_as_utc(db):
    db.record(trial(created_at=NOON.astimezone(timezone(timedelta(hours=5)))))
    (stored,) = db.trials()
    assert stored.created_at == NOON
    assert stored.created_at.tzinfo is UTC


def test_an_error_that_is_not_finite_is_stored_as_none(db):
    for value in (float("nan"), float("inf")):
        db.record(trial(status=Status.WRONG, max_error=value))
        assert db.trials()[0].max_error is None


test_a_trial_with_wrong_values_cannot_be_made = refused(
    trial,
    [
        ({"samples": ()}, "at least one sample"),
        ({"samples": (0.0,)}, "sample 0.0"),
        ({"samples": (float("nan"),)}, "sample nan"),
        ({"samples": (float("inf"),)}, "sample inf"),
        ({"samples": (-1.0,)}, "sample -1.0"),
        ({"samples": [1.0]}, "a sequence"),
        ({"status": "ok"}, "status='ok'"),
        ({"max_error": -1.0}, "max_error=-1.0"),
        ({"schedule_digest": ""}, "schedule_digest is empty"),
        ({"compiler": "x" * 256}, "256 characters"),
        ({"error": "\ud800"}, "surrogates"),
        ({"error": "a\0b"}, "without NUL"),
        ({"error": None}, "expected text"),
        ({"resources": {"registers": float("nan")}}, "resources="),
        ({"schedule": {"kind": object()}}, "schedule="),
        ({"schedule": {"stages": 2**63}}, "whole numbers of 64 bits"),
        ({"environment": []}, "environment="),
        ({"created_at": NOON.replace(tzinfo=None)}, "time zone"),
    ],
)


@pytest.mark.parametrize("capability", [(9,), (9, 0, 0), [9, 0], (9, -1), (9, 1000), (9, True), None])
def test_a_compute_capability_is_two_small_numbers(capability):
    with pytest.raises(ValueError, match="compute_capability="):
        replace(H200, compute_capability=capability)
