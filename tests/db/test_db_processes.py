"""Many processes at once, and processes that die."""

import multiprocessing
import os
import signal
import sqlite3
import sys
from contextlib import closing

import pytest
from sqlalchemy import Engine, event
from trial_factory import trial

from autotune.db import TuningDB, stored_trials
from autotune.db.engine import WRITE
from autotune.db.exchange import to_document
from autotune.search_spaces.contract.registry import OPERATORS

PROCESSES = 4
# Like "spawn", processes that share nothing with this one, but the imports are made only once.
PROCESS = multiprocessing.get_context("forkserver")
assert all(OPERATORS.values())  # a new database has a view of each: now their modules are imported
OF_OPERATORS = sorted(name for name in sys.modules if name.startswith("autotune.search_spaces."))
PROCESS.set_forkserver_preload(["alembic.command", "autotune.db.database", "pytest", *OF_OPERATORS])


def run(target, *arguments):
    """The exit codes of `PROCESSES` processes that start their work together."""
    barrier = PROCESS.Barrier(PROCESSES)
    processes = [PROCESS.Process(target=target, args=(barrier, i, *arguments)) for i in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def create_and_write(barrier, number, urls):
    for url in urls:
        barrier.wait(timeout=60)
        with TuningDB(url) as db:
            for i in range(5):
                db.record(trial(f"{number}-{i}"))
                db.record(trial("shared", 1e-3 * (1 + number)))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_processes_create_and_write_together_and_lose_nothing(tmp_path, request, kind):
    urls = [str(tmp_path / "a.sqlite3"), str(tmp_path / "b.sqlite3")]
    if kind == "postgresql":
        urls = [request.getfixturevalue("postgres").new_database() for _ in urls]
    assert run(create_and_write, urls) == [0] * PROCESSES
    digests = {f"{number}-{i}" for number in range(PROCESSES) for i in range(5)} | {"shared"}
    for url in urls:
        with TuningDB(url) as db:
            assert sorted(one.schedule_digest for one in db.trials()) == sorted(digests)
        assert intact(url)


def intact(url):
    """Whether SQLite finds its file whole; a server looks after its own, and reading a trial checks its values."""
    if "://" in url:
        return True
    with closing(sqlite3.connect(url)) as connection:
        mode = connection.execute("PRAGMA journal_mode").fetchone()
        return mode == ("wal",) and connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def die_before_a_write_is_committed(connection):
    if connection.get_execution_options().get(WRITE):
        os.kill(os.getpid(), signal.SIGKILL)


def die_while_recording(url):
    with TuningDB(url) as db:
        for i in range(5):
            db.record(trial(f"{i}"))
        event.listen(Engine, "commit", die_before_a_write_is_committed)
        db.record(trial("not committed"))


def die_while_merging(url):
    with TuningDB(url) as db:
        for i in range(5):
            db.record(trial(f"{i}"))
        # 4 MB: spills out of SQLite's cache.
        document = to_document(trial(f"not committed {i}", error="x" * 10_000) for i in range(400))
        stored_trials.check_foreign = lambda trials, known: None  # these are made up
        event.listen(Engine, "commit", die_before_a_write_is_committed)
        db.merge(document)


def die_while_creating(url):
    event.listen(Engine, "commit", die_before_a_write_is_committed)
    TuningDB(url)


@pytest.mark.parametrize(
    ("target", "stored"), [(die_while_recording, 5), (die_while_merging, 5), (die_while_creating, 0)]
)
def test_a_process_killed_while_it_writes_leaves_what_was_committed(url, target, stored):
    process = PROCESS.Process(target=target, args=(url,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with TuningDB(url) as db:
        assert sorted(one.schedule_digest for one in db.trials()) == [f"{i}" for i in range(stored)]
        db.record(trial("after"))
    assert intact(url)


def write_until_killed(url, pipe):
    with TuningDB(url) as db:
        for i in range(1_000_000):
            db.record(trial(f"{i}"))
            pipe.send(i)


def test_a_process_killed_at_any_moment_loses_nothing_that_was_recorded(url):
    receiver, sender = PROCESS.Pipe(duplex=False)
    process = PROCESS.Process(target=write_until_killed, args=(url, sender))
    process.start()
    sender.close()
    while (last := receiver.recv()) < 20:
        pass
    process.kill()
    process.join()
    with TuningDB(url) as db:
        assert {f"{i}" for i in range(last + 1)} <= {one.schedule_digest for one in db.trials()}
    assert intact(url)
