"""Shipped records are served by a fresh database, and stay out of the way of what is measured here."""

import pytest
from trial_factory import H200, SMALL, T4, trial

from autotune.db import TuningDB, pretuned
from autotune.db.exchange import from_document, read_document, to_document, write_document

SHIPPED = [path.name for path in pretuned.FOLDER.glob("*.json")]
SHIPPED_FOLDER = pretuned.FOLDER


def ship(folder, name, *trials):
    write_document(folder / name, to_document(trials))


def seconds(db):
    best = db.best(SMALL.operator, SMALL.key, H200.model)
    return best and best.seconds


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_file_is_valid_and_has_nothing_that_does_not_serve(name):
    trials = from_document(read_document(SHIPPED_FOLDER / name))
    assert trials
    with TuningDB("sqlite://") as db:
        db.merge(to_document(trials))
        assert len(db.serving()) == len(trials)


def test_a_fresh_database_serves_the_shipped_records(path, no_pretuned):
    ship(no_pretuned, "h200.json", trial("a", 2e-3))
    ship(no_pretuned, "t4.json", trial("a", device=T4))
    with TuningDB(str(path)) as db:
        assert seconds(db) == 2e-3
        assert db.devices() == [H200, T4]


def test_a_new_set_is_merged_once_and_keeps_the_better(path, no_pretuned, monkeypatch):
    with TuningDB(str(path)) as db:
        db.record(trial("a", 2e-3))
    ship(no_pretuned, "h200.json", trial("a", 3e-3), trial("b", 1e-3))
    with TuningDB(str(path)) as db:
        assert seconds(db) == 1e-3
        db.record(trial("b", 5e-3))
        assert seconds(db) == 2e-3

    ship(no_pretuned, "h200.json", trial("c", 1e-4))
    with TuningDB(str(path)) as db:
        assert seconds(db) == 1e-4
    monkeypatch.setattr(pretuned, "trials", lambda: pytest.fail("the same set was merged again"))
    with TuningDB(str(path)) as db:
        assert len(db.trials()) == 3
