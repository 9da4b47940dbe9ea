"""Pruning takes what can never serve again and changes no best trial; a backup is the database at one moment."""

import random
import sqlite3
from dataclasses import asdict, replace

import pytest
from trial_factory import trial

from autotune.db import DatabaseError, DeviceRecord, ProblemRecord, Status, TimeSource, TuningDB
from autotune.db.freshness import OTHER_PROGRAM
from autotune.db.pruning import NO_PROGRAM
from autotune.db.storing import newest
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

TRANSPOSE = operator("transpose")
SPEC = named_device("h200")
DEVICE = DeviceRecord(SPEC.name, SPEC.compute_capability, asdict(SPEC))
SCHEDULES = [TRANSPOSE.kernels[0].schedule_type(pad=pad, raster_group=group) for pad in (1, 2, 4) for group in (1, 2)]


def made(m, schedule, program=None, **changes):
    """A trial whose program is that of today, unless it is given."""
    problem = TRANSPOSE.problem_type(m, 8)
    digest = program or TRANSPOSE.program(problem, schedule, SPEC).digest
    values = {
        "device": DEVICE,
        "problem": ProblemRecord("transpose", problem.key, problem.to_dict()),
        "schedule": schedule.to_dict(),
        "program_digest": digest,
    }
    return trial(schedule.digest, **values | changes)


def random_trials(count):
    """Trials of which later ones are more often of today's program."""
    chosen = random.Random(0)
    for minute in range(count):
        ok, schedule = chosen.random() < 0.6, chosen.choice(SCHEDULES)
        yield made(
            chosen.choice((16, 32)),
            schedule,
            None if chosen.random() < minute / count else chosen.choice("01") * 64,
            samples=(chosen.choice((1e-3, 2e-3, 3e-3, 4e-3)),) if ok else (),
            status=Status.OK if ok else Status.WRONG,
            time_source=chosen.choice((*TimeSource, TimeSource.MEASURED)),
            lost_to=chosen.choice(("", "", "", *(other.digest for other in SCHEDULES if other != schedule))),
            compiler=chosen.choice(("one", "other")),
            minutes=minute,
        )


def bests(db):
    return [db.serving(compiler=compiler) for compiler in (None, "one")]


def test_pruning_changes_no_best_trial():
    with TuningDB("sqlite://") as db:
        db._store(list(random_trials(45)), newest)
        stored, before = db.trials(), bests(db)
        listed = db.prune("a third")
        assert db.trials() == stored, "they are only listed"
        assert db.prune("a third", remove=True) == listed
        assert 5 < len(listed) == len(stored) - len(db.trials())
        assert bests(db) == before
        fresh = [one for one in stored if one.program_digest[0] not in "01"]
        assert [one for one in db.trials() if one in fresh] == fresh
        assert db.prune("a third") == []


def test_the_best_of_each_compiler_stays():
    with TuningDB("sqlite://") as db:
        db.record(made(16, SCHEDULES[0], "0" * 64, compiler="one"))
        db.record(made(16, SCHEDULES[1], "0" * 64, compiler="other"))
        db.record(made(16, SCHEDULES[2], "0" * 64, compiler="other", samples=(2e-3,)))
        assert len(db.prune("one", remove=True)) == 1
        assert {one.compiler: one.seconds for one in db.trials()} == {"one": 1e-3, "other": 1e-3}


def test_a_winner_stays_as_long_as_one_that_lost_to_it():
    lucky, winner, second = SCHEDULES[:3]
    with TuningDB("sqlite://") as db:
        db.record(made(16, winner, "0" * 64, samples=(3e-3,)))
        db.record(made(16, second, samples=(2e-3,)))
        db.record(made(16, lucky, samples=(1e-3,), lost_to=winner.digest))
        assert db.prune(remove=True) == []
        assert db.best("transpose", "m16-n8-e4", DEVICE.model).seconds == 2e-3


def test_what_can_go_is_told_with_its_reason(db):
    small, other, odd = SCHEDULES[0], SCHEDULES[1], SCHEDULES[2]
    db.record(made(16, small, samples=(2e-3,)))
    db.record(made(16, small, "0" * 64, minutes=-1))
    db.record(made(16, odd, "0" * 64, status=Status.WRONG, samples=()))
    unknown = {"schedule": {"gone": 1}, "schedule_digest": "gone"}
    db.record(replace(made(16, odd, status=Status.WRONG, samples=()), **unknown))
    db.record(made(32, other, "0" * 64))
    db.record(made(64, other, "0" * 64, status=Status.CRASHED, samples=()))
    found = db.prune(remove=True)
    assert {(one.problem, one.status, one.reason) for one in found} == {
        ("m16-n8-e4", Status.OK, OTHER_PROGRAM),
        ("m16-n8-e4", Status.WRONG, OTHER_PROGRAM),
        ("m16-n8-e4", Status.WRONG, NO_PROGRAM),
        ("m64-n8-e4", Status.CRASHED, OTHER_PROGRAM),
    }
    assert {(one.problem.key, one.program_digest == "0" * 64) for one in db.trials()} == {
        ("m16-n8-e4", False),
        ("m32-n8-e4", True),
    }, "the only record of a problem stays though it is stale"
    assert [one.key for one in db.problems()] == ["m16-n8-e4", "m32-n8-e4"]


def test_a_trial_that_was_made_anew_meanwhile_stays(path, monkeypatch):
    with TuningDB(path) as db:
        db.record(made(16, SCHEDULES[0], samples=(1e-4,)))
        db.record(made(16, SCHEDULES[1], "0" * 64))
        write = db._write

        def after_another_run(work):
            monkeypatch.undo()
            db.record(made(16, SCHEDULES[1], "0" * 64, minutes=1))
            return write(work)

        monkeypatch.setattr(db, "_write", after_another_run)
        assert db.prune(remove=True) == []
        assert len(db.trials()) == 2


def test_a_backup_is_the_database_while_others_write(path, tmp_path):
    copy = tmp_path / "copy.sqlite3"
    copy.write_text("what was there is replaced")
    with TuningDB(path) as db, TuningDB(path) as other:
        db.record(trial("a"))
        other._write(lambda session: (session.connection(), db.backup(copy)))
        other.record(trial("b"))
    with TuningDB(copy) as restored:
        assert restored.trials() == [trial("a")]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.sqlite3", "folder", "pretuned"]


def test_a_backup_that_cannot_be_leaves_what_was_there(path, tmp_path, monkeypatch):
    copy = tmp_path / "copy.sqlite3"
    with TuningDB(path) as db:
        db.record(trial())
        db.backup(copy)
        before = copy.read_bytes()
        with pytest.raises(ValueError, match="is the database itself: name another file"):
            db.backup(path.parent / ".." / path.parent.name / path.name)
        monkeypatch.setattr(sqlite3, "connect", lambda path: full_disk())
        with pytest.raises(DatabaseError, match=r"copy\.sqlite3 could not be written: .*full"):
            db.backup(copy)
    assert copy.read_bytes() == before
    with TuningDB("sqlite://") as db, pytest.raises(DatabaseError, match="is in memory"):
        db.backup(copy)


def full_disk():
    connection = sqlite3.Connection(":memory:")
    connection.execute("PRAGMA max_page_count = 1")
    return connection


def test_a_backup_of_a_server_is_a_line_that_names_pg_dump(postgres, tmp_path):
    said = "is on a server, which makes a backup by pg_dump"
    with TuningDB(postgres.new_database()) as db, pytest.raises(DatabaseError, match=said) as caught:
        db.backup(tmp_path / "copy")
    message = str(caught.value)
    assert "\n" not in message
    assert "s3cret" not in message
    assert "'postgresql://autotune@/tuning_" in message
    assert f"--file={tmp_path}/copy" in message


def test_trials_of_operators_that_are_not_here_stay(db):
    mine = ProblemRecord("of_a_file", "n8", {"n": 8})
    db.record(replace(made(16, SCHEDULES[0], "0" * 64, status=Status.WRONG, samples=()), problem=mine))
    assert db.prune(remove=True) == []
    assert len(db.trials()) == 1
