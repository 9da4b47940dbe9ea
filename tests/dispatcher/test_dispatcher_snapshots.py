"""Records that an earlier process read: served without a look into the database, as long as it is the same."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from dispatcher.records import H200, SGEMM, problem, schedule, trial

from autotune.base.cache import cache_folder
from autotune.db import TuningDB
from autotune.db.exchange import to_document, write_document
from autotune.dispatcher.choice import records
from autotune.dispatcher.targets import gpu


def aged(path):
    """A database that was last written some time ago."""
    for file in path.parent.glob("tuning.sqlite3*"):
        os.utime(file, (time.time() - 60, time.time() - 60))


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A database with one record, and a cache of its own."""
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "tuning.sqlite3"
    with TuningDB(str(file)) as database:
        database.record(trial(problem(512), schedule(0, problem(512))))
    aged(file)
    return file


@pytest.fixture
def opened(monkeypatch):
    """How often a database was opened."""
    times = []
    opening = TuningDB.__init__
    monkeypatch.setattr(
        TuningDB, "__init__", lambda self, *args, **options: times.append(args) or opening(self, *args, **options)
    )
    return times


def read():
    """The records that a new process finds, told by their sizes."""
    records._known.clear()
    records._database.cache_clear()
    return sorted(record.problem.m for record in records.records(SGEMM, H200))


def test_a_second_process_imports_no_sqlalchemy_and_finds_the_same(path):
    program = """
import sys
from autotune.dispatcher.choice.records import records
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.contract.registry import operator
print(records(operator("sgemm"), named_device("h200")))
print("sqlalchemy" in sys.modules, file=sys.stderr)
"""
    first, second = (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert (first.stderr, second.stderr) == ("True\n", "False\n")
    assert first.stdout == second.stdout
    assert "m=512" in first.stdout


def test_it_is_read_again_when_somebody_wrote_to_it(path, opened):
    assert read() == read() == [512]
    assert len(opened) == 1
    with TuningDB(str(path)) as database:
        database.record(trial(problem(600), schedule(1, problem(600))))
        assert read() == [512, 600]  # the log beside it is what changed
    aged(path)
    assert read() == read() == [512, 600]
    path.unlink()
    assert read() == []


def test_what_a_process_has_read_it_keeps(path):
    assert records.records(SGEMM, H200) is records.records(SGEMM, H200)


def test_a_database_without_a_version_is_read_each_time(path, opened, monkeypatch):
    """As PostgreSQL is: nothing but a look into it tells what it holds."""
    monkeypatch.setattr(records.snapshots, "version_of", lambda *_: records.snapshots.Version())
    assert read() == [512]
    with TuningDB(str(path)) as database:
        database.record(trial(problem(600), schedule(1, problem(600))))
    assert sorted(record.problem.m for record in records.records(SGEMM, H200)) == [512, 600]


def test_other_shipped_trials_are_seen(path, tmp_path):
    assert read() == [512]
    shipped = trial(problem(700), schedule(2, problem(700)))
    write_document(tmp_path / "pretuned" / "h200.json", to_document([shipped]))
    assert read() == [512, 700]
    aged(path)
    assert read() == read() == [512, 700]


def test_what_was_written_just_now_may_be_written_again_in_the_same_tick(path, opened):
    os.utime(path)
    assert read() == read() == [512]
    assert len(opened) == 2


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("512", "513"), ("\n", ""), ("[", "")])
def test_a_damaged_snapshot_is_as_none(path, opened, old, new):
    assert read() == [512]
    (file,) = cache_folder("records").iterdir()
    file.write_text(file.read_text().replace(old, new, 1))
    assert read() == [512]
    assert len(opened) == 2


def test_a_gpus_limits_need_neither_nvml_nor_nvrtc(monkeypatch):
    class Context:
        def __enter__(self):
            pass

        def __exit__(self, *_exception):
            pass

    said = SimpleNamespace(name="a GPU", properties=object(), set_current=lambda: None)  # nothing else is asked
    monkeypatch.setattr(gpu, "check_device", lambda ordinal: None)
    monkeypatch.setattr(gpu, "Context", lambda ordinal: Context())
    monkeypatch.setattr(gpu, "Device", lambda ordinal: said)
    monkeypatch.setattr(gpu, "driver_spec", lambda name, properties: (name, properties is said.properties))
    assert gpu.Gpu(0).spec == ("a GPU", True)
