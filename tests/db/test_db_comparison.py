"""Comparisons with baselines stay with the trials of their schedules, and nothing else tells who is faster."""

from datetime import UTC, datetime

import pytest
from trial_factory import trial

from autotune.db import MergeCounts
from autotune.db.comparison import BaselineTimes
from autotune.db.exchange import to_document

pytestmark = pytest.mark.usefixtures("made_up_trials")


def compared(one, **seconds):
    return one.compared(BaselineTimes(1e-3, seconds, {"library": "1.2"}))


def test_baselines_that_were_faster_beat_a_trial():
    assert compared(trial(), fast=0.9e-3, slow=1.1e-3, same=1e-3).faster_baselines == {"fast"}
    assert trial().faster_baselines == frozenset()


def test_a_comparison_replaces_an_earlier_one_and_leaves_the_rest():
    one = trial(environment={"driver": "580"})
    twice = compared(compared(one, fast=0.9e-3), fast=1.1e-3)
    assert twice.faster_baselines == frozenset()
    assert (twice.environment, twice.samples, twice.schedule_digest) == (
        one.environment,
        one.samples,
        one.schedule_digest,
    )


@pytest.mark.parametrize(
    "values",
    [
        "fast",
        {},
        {"own": 1e-3},
        {"own": "1", "others": {"fast": 0.1}, "libraries": {}},
        {"own": 1e-3, "others": {"fast": "0"}, "libraries": {}},
        {"own": 1e-3, "others": [], "libraries": {}},
        {"own": 1e-3, "others": {}, "libraries": {"cuBLAS": 13}},
    ],
)
def test_what_is_no_comparison_is_refused_in_one_line(values):
    with pytest.raises(ValueError) as caught:
        BaselineTimes.from_dict(values)
    assert "\n" not in str(caught.value)


def test_a_merge_brings_the_comparison_of_a_trial_that_is_stored_already(db):
    early, late = (datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2021))
    plain = trial(created_at=early)
    document = to_document([compared(plain, fast=0.9e-3)])
    db.record(plain)
    assert db.merge(document) == MergeCounts(replaced=1)
    (stored,) = db.trials()
    assert stored.comparison == BaselineTimes(1e-3, {"fast": 0.9e-3}, {"library": "1.2"})
    assert db.merge(document) == db.merge(to_document([trial(created_at=late)])) == MergeCounts(kept=1)
    assert db.trials()[0].faster_baselines == {"fast"}
