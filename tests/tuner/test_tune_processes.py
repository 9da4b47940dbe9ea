"""Runs that are killed, that find the disk full, and that share a database."""

import random
import signal
import sqlite3
from contextlib import closing
from math import inf

import pytest
from tuner_processes import (
    PROCESS,
    read_beside_others,
    run_beside_others,
    run_on_a_full_disk,
    run_until_killed,
    said,
    started,
)

KILLS = 50
# Of functions: a run makes about 250,000 to open the database and to read it, and 25,000 in each trial.
CALLS = {"start": 250_000, "evaluated": 100_000}


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_PRETUNED", str(tmp_path / "none"))
    return tmp_path / "tuning.sqlite3"


def stored(path):
    """The schedules of the trials in an intact database."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'trials'").fetchone():
            return []
        return [row[0] for row in connection.execute("SELECT schedule_digest FROM trials")]


def test_a_run_killed_at_any_moment_loses_the_trial_in_flight_at_most(path):
    points = random.Random(0)
    before = []
    for kill in range(KILLS):
        first = tuple(CALLS)[kill % 2]
        process, pipe = started(run_until_killed, path, 100, 1 + points.randrange(CALLS[first]), first)
        heard = said(process, pipe)
        assert process.exitcode == -signal.SIGKILL
        now = stored(path)
        assert len(now) == len(set(now))
        assert set(now) >= set(before) | set(heard["stored"])
        assert not set(heard["evaluated"]) & set(before)
        assert len(set(heard["evaluated"]) - set(now)) <= 1
        before = now
    assert len(before) > KILLS / 4
    process, pipe = started(run_until_killed, path, 5, inf)
    assert len(said(process, pipe)["stored"]) == 5
    assert (process.exitcode, len(stored(path))) == (0, len(before) + 5)


def test_a_run_on_a_full_disk_keeps_what_it_stored_and_the_next_one_goes_on(path):
    process, pipe = started(run_on_a_full_disk, path, 1000, 1 << 18)
    full = said(process, pipe)
    assert process.exitcode == 0
    assert full["error"] == [f"{path} could not be written or read: look at its disk; what was stored before is safe"]
    assert set(full["stored"]) <= set(stored(path))
    process, pipe = started(run_until_killed, path, 5, inf)
    again = said(process, pipe)
    assert len(again["stored"]) == 5
    assert not set(again["stored"]) & set(full["stored"])
    assert set(stored(path)) == set(full["stored"]) | set(again["stored"])


def test_two_tuners_and_eight_readers_share_a_database(path):
    barrier, done = PROCESS.Barrier(10), PROCESS.Event()
    tuners = [started(run_beside_others, path, barrier, 20, seed) for seed in (1, 2)]
    readers = [started(read_beside_others, path, barrier, done)[0] for _ in range(8)]
    heard = [said(*tuner) for tuner in tuners]
    done.set()
    for process in readers:
        process.join()
    assert [process.exitcode for process in [*readers, *(tuner for tuner, _ in tuners)]] == [0] * 10
    assert [len(one["stored"]) for one in heard] == [20, 20]
    now = stored(path)
    assert set(now) == {digest for one in heard for digest in one["stored"]}
    assert len(now) == len(set(now))


def test_four_runs_of_one_problem_try_each_schedule_once(path):
    barrier = PROCESS.Barrier(4)
    runs = [started(run_beside_others, path, barrier, 12, 0) for _ in range(4)]  # which alone would try the same
    heard = [digest for run in runs for digest in said(*run)["stored"]]
    assert [process.exitcode for process, _ in runs] == [0] * 4
    assert len(heard) == len(set(heard)) == 48
    assert sorted(stored(path)) == sorted(heard)


def test_a_run_that_is_killed_costs_the_others_nothing_but_its_trials_in_flight(path):
    barrier = PROCESS.Barrier(4)
    runs = [started(run_beside_others, path, barrier, 12, 0) for _ in range(3)]
    killed, pipe = started(run_until_killed, path, 100, 30_000, seed=0, barrier=barrier)
    dead = said(killed, pipe)
    heard = [digest for run in runs for digest in said(*run)["stored"]]
    assert killed.exitcode == -signal.SIGKILL
    assert len(heard) == len(set(heard)) == 36
    again = said(*started(run_until_killed, path, 100, inf, seed=0))["stored"]
    everything = [*dead["stored"], *heard, *again]
    assert len(everything) == len(set(everything))
    assert set(dead["evaluated"]) <= set(stored(path))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
