"""Contests stay with the trials of their schedules, and nothing but a contest tells who is faster."""

from datetime import UTC, datetime

import pytest
from trial_factory import trial

from autotune.db import MergeCounts
from autotune.db.contests import beaten_by, with_contest
from autotune.db.exchange import to_document


def contested(one, **seconds):
    return with_contest(one, 1e-3, seconds, {"library": "1.2"})


def test_those_who_were_faster_in_the_contest_beat_a_trial():
    assert beaten_by(contested(trial(), fast=0.9e-3, slow=1.1e-3, same=1e-3)) == {"fast"}
    assert beaten_by(trial()) == frozenset()


def test_a_contest_replaces_an_earlier_one_and_leaves_the_rest():
    one = trial(environment={"driver": "580"})
    twice = contested(contested(one, fast=0.9e-3), fast=1.1e-3)
    assert beaten_by(twice) == frozenset()
    assert twice.environment["driver"] == "580"
    assert (twice.samples, twice.schedule_digest) == (one.samples, one.schedule_digest)


@pytest.mark.parametrize(
    "contest",
    ["fast", {}, {"own": 1e-3}, {"own": "1", "others": {"fast": 0.1}}, {"own": 1e-3, "others": {"fast": "0"}}],
)
def test_what_is_no_contest_says_nothing(contest):
    assert beaten_by(trial(environment={"contest": contest})) == frozenset()


def test_a_merge_brings_the_contest_of_a_trial_that_is_stored_already(db):
    early, late = (datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2021))
    plain = trial(created_at=early)
    document = to_document([contested(plain, fast=0.9e-3)])
    db.record(plain)
    assert db.merge(document) == MergeCounts(replaced=1)
    assert beaten_by(db.trials()[0]) == {"fast"}
    assert db.merge(document) == db.merge(to_document([trial(created_at=late)])) == MergeCounts(kept=1)
    assert beaten_by(db.trials()[0]) == {"fast"}
