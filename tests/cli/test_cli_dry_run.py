"""tune --dry-run and what tune warns of before it begins."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from autotune.cli import early_warnings
from autotune.cli.rendering.dry_run import outlook_document
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.db.engine import database_url
from autotune.devices import select
from autotune.runs.outlook import Outlook, pace
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.contract.sizes import SpaceSize
from autotune.tuner import TuneOptions

DRY = ("tune", "transpose", "--device", "h200", "--m", "64", "--n", "64", "--dry-run")
H200 = select.device("h200")
TRANSPOSE = operator("transpose")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(select, "worker_device", lambda selector, **_: nullcontext(select.device(selector)))
    monkeypatch.setattr("autotune.compile_pool.CompilePool.submit", None)


def test_what_would_be_tried_is_shown_and_nothing_is_stored(autotune):
    (found,) = autotune(*DRY, "--json").json
    problem = TRANSPOSE.problem_type(64, 64)
    assert (found["operator"], found["problem"], found["device"]) == ("transpose", problem.key, H200.spec.name)
    seeds = TRANSPOSE.seeds(problem, H200.spec)
    assert sorted(map(str, found["first"])) == sorted(str(seed.to_dict()) for seed in seeds)
    assert (found["known"], found["ended_by"], found["seconds_per_trial"]) == (0, "trials", None)
    told = autotune(*DRY, "--seconds", "5")
    assert "until      5 s or 200 trials, whichever ends first\n" in told.stdout
    assert told.stderr == ""
    (many,) = {
        tuple(line.split()[-2:])
        for line in autotune(*DRY, "--suite", next(iter(TRANSPOSE.suites))).stdout.splitlines()[3:-2]
    }
    assert many == ("trials", "unknown")
    assert autotune("db", "trials", "--json").json == []
    assert autotune("runs", "--json").json == []


def test_only_what_is_asked_for_would_be_tried(autotune):
    (everything,) = autotune(*DRY, "--json").json
    (found,) = autotune(*DRY, "tile_n=64", "--exclude", "specialize=shape", "--json").json
    assert 0 < len(found["first"]) < len(everything["first"])
    assert {(one["tile_n"], one["specialize"]) for one in found["first"]} == {(64, "none")}
    assert found["space"]["legal"] < everything["space"]["legal"]


@pytest.mark.parametrize(
    ("options", "limit", "seconds"),
    [
        (TuneOptions(10), "trials", 20),
        (TuneOptions(10, seconds=15), "seconds", 15),
        (TuneOptions(10, seconds=25), "trials", 20),
        (TuneOptions(100), "trials", 24),  # of a space of 15 schedules, of which 3 are known
    ],
)
def test_the_limit_that_ends_a_run(options, limit, seconds):
    found = Outlook(SpaceSize(30, 15, 0.0), 3, [], 2.0)
    document = outlook_document(TRANSPOSE, TRANSPOSE.problem_type(64, 64), H200, found, options)
    assert (document["ended_by"], document["expected_seconds"]) == (limit, seconds)


def test_how_long_a_trial_takes_is_what_trials_of_one_run_took(monkeypatch):
    problem, start = TRANSPOSE.problem_type(64, 64), datetime(2026, 1, 1, tzinfo=UTC)
    schedule = TRANSPOSE.default(problem, H200.spec)
    trial = Trial(
        DeviceRecord(H200.spec.name, (9, 0), {}), ProblemRecord("transpose", problem.key, problem.to_dict()),
        schedule.to_dict(), schedule.digest, Status.OK, TimeSource.MODELLED, samples=(1.0,), run="b",
    )  # fmt: skip
    at = [("a", 0), ("a", 3), ("b", 900), ("b", 904), (None, 906), (None, 907)]
    stored = [replace(trial, run=run, created_at=start + timedelta(seconds=seconds)) for run, seconds in at]

    class Database:
        def trials(self, *_, **__):
            return stored[::-1]

        def tried(self, *_):
            return []

        kin = winners = ranked = tried

    assert pace(Database(), "transpose", H200.spec.name, TimeSource.MODELLED) == 3.5  # type: ignore[arg-type]


def test_options_that_have_no_effect_are_named(autotune):
    outcome = autotune("tune", "transpose", "--device", "h200", "--stale", "--element-bytes", "4")
    assert outcome.stderr.splitlines() == [
        "autotune: --element-bytes has no effect with --stale, which selects the problems",
        "nothing to tune: no record of transpose on NVIDIA H200 is stale",
    ]


def test_a_cache_that_cannot_be_used_is_told(autotune, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "file"))
    lost = "sources and failure reports are lost when this command ends"
    assert autotune(*DRY).stderr == f"autotune: {tmp_path}/file: Not a directory; {lost}\n"


def test_a_database_on_a_network_file_system_is_told(tmp_path, capsys, monkeypatch):
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(early_warnings, "_MOUNTS", mounts)
    mounts.write_text(f"/dev/x / ext4 rw 0 0\nhost:/x {tmp_path}/a\\040b nfs4 rw 0 0\n")
    early_warnings.warn_of_database(database_url(tmp_path / "db.sqlite3"))
    assert capsys.readouterr().err == ""
    file = tmp_path / "a b" / "db.sqlite3"
    early_warnings.warn_of_database(database_url(file))
    assert capsys.readouterr().err.startswith(f"autotune: {file} is on a network file system (nfs4), ")
    mounts.write_text(f"{mounts.read_text()}/dev/y {tmp_path}/a\\040b ext4 rw 0 0\n")
    early_warnings.warn_of_database(database_url(file))
    assert capsys.readouterr().err == ""
    mounts.unlink()
    assert early_warnings.file_system(file) == ""
