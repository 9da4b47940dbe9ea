"""Runs that are killed, that find the disk full, and that share a database."""

import random
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from math import inf

import pytest
from devices.worker_fakes import FAULTY, Fault, FaultyProblem, FaultySchedule, faulty_device
from mutants.cache import cache_with_runtime
from tuner_processes import (
    PROCESS,
    read_beside_others,
    run_beside_others,
    run_on_a_full_disk,
    run_until_killed,
    said,
    started,
)

from autotune.db import Status, TimeSource
from autotune.devices.select import device
from autotune.devices.worker_device import WorkerDevice
from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import TuneOptions, tune

KILLS = 12

# Of functions: a run makes about 250,000 to open the database and to read it, and 25,000 in each trial.
CALLS = {"start": 250_000, "evaluated": 100_000}


@pytest.fixture
def path(tmp_path):
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


@pytest.mark.usefixtures("pools")
def test_a_run_goes_on_after_crashes_and_kills_and_the_next_one_tries_again_what_was_killed(db):
    with WorkerDevice(faulty_device) as device:
        result = tune(FAULTY, FaultyProblem(), device, db, TuneOptions(trials=8, seed=7, compile_workers=1))
        tried = db.trials()
        again = tune(FAULTY, FaultyProblem(), device, db, TuneOptions(trials=1, seed=7, compile_workers=1))
    assert result.by_status == {Status.CRASHED: 2, Status.OK: 6}
    trials = {FaultySchedule.from_dict(trial.schedule).fault: trial for trial in tried}
    assert trials[Fault.SEGFAULT].error == "the process for measuring ended by SIGSEGV"
    assert trials[Fault.KILLED].error == "the process for measuring ended by SIGKILL, twice"
    assert Counter(trial.status for trial in tried) == result.by_status
    assert (again.known, again.by_status) == (7, {Status.CRASHED: 1})
    assert db.trials()[0].schedule == trials[Fault.KILLED].schedule


@pytest.mark.parametrize(("name", "shape"), [("sgemm", (192, 160, 64)), ("transpose", (300, 200))])
def test_tuning_on_an_offline_device(tmp_path, monkeypatch, db, name, shape):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(cache_with_runtime(tmp_path / "cache")))
    tuned = operator(name)
    problem = tuned.problem_type(*shape)
    h200 = device("h200")
    result = tune(tuned, problem, h200, db, TuneOptions(trials=2, compile_workers=2))
    trials = db.trials(name)
    assert [trial.status for trial in trials] == [Status.OK] * 2
    assert {trial.time_source for trial in trials} == {TimeSource.MODELLED}
    assert all(trial.resources["registers"] > 0 and trial.max_error is not None for trial in trials)
    seeds = fastest_first(tuned, problem, tuned.seeds(problem, h200.spec), h200.spec)
    assert [tuned.schedule(trial.schedule) for trial in reversed(trials)] == seeds[:2]
    assert result.best in trials and result.best.seconds == min(trial.seconds for trial in trials)
