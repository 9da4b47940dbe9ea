"""report: which trials are on the page, and where it is."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from factories import TRANSPOSE, schedules, trials

from autotune.db import RunRecord, TuningDB

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "h200"


@pytest.fixture
def stored(environment, tmp_path, monkeypatch):
    """A run of three trials of one problem, and two trials of another one without a run."""
    monkeypatch.chdir(tmp_path)
    run = RunRecord("autotune tune transpose", "transpose", {"trials": 3}, "bayes", 0, [], "0123abcd")
    with TuningDB() as db, db.running(run):
        for trial in trials(schedules(3)):
            db.record(replace(trial, run=run.id))
        other = TRANSPOSE.problem_type(64, 64)
        for trial in trials(schedules(2, other), other):
            db.record(trial)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("arguments", "name", "count", "problems"),
    [
        ("", "report-0123abcd.html", 3, 1),
        ("0123", "report-0123abcd.html", 3, 1),
        ("transpose", "report-transpose.html", 5, 2),
        ("transpose --problem m64-n64-e4", "report-transpose.html", 2, 1),
        ("transpose --device h200 -o page.html", "page.html", 5, 2),
    ],
)
def test_a_page_is_written(autotune, tmp_path, arguments, name, count, problems):
    outcome = autotune("report", *arguments.split())
    assert (outcome.code, outcome.stdout) == (0, f"wrote {name}, {count} trials: open it in a browser\n")
    written = (tmp_path / name).read_bytes()
    assert written.startswith(b"<!doctype html>")
    told = autotune("report", *arguments.split(), "--json").json
    assert (told["path"], told["trials"], told["problems"]) == (name, count, problems)
    assert told["bytes"] == (tmp_path / name).stat().st_size


@pytest.mark.usefixtures("stored")
def test_what_cannot_be_is_skipped_and_told(autotune):
    (trial,) = trials(schedules(1))
    schedule, problem = {**trial.schedule, "tile_m": -1}, replace(trial.problem, key="m-4", fields={"m": -4})
    with TuningDB() as db:
        db.record(replace(trial, schedule=schedule, schedule_digest="0", samples=(1e-9,)))
    first = f"one of transpose {trial.problem.key}: tile_m=-1 of the schedule: expected 1 or more"
    outcome = autotune("report", "transpose", "--problem", trial.problem.key)
    assert (outcome.code, outcome.stderr) == (0, f"skipped 1 trial, the first {first}\n")
    with TuningDB() as db:
        db.record(replace(trial, problem=problem))
    outcome = autotune("report", "transpose", "--json")
    assert (outcome.json["trials"], outcome.json["problems"]) == (5, 2)
    assert "skipped 2 trials, the first one of transpose " in outcome.stderr
    outcome = autotune("report", "transpose", "--problem", "m-4")
    assert (outcome.code, outcome.stdout) == (1, "")
    assert "; skipped 1 trial, the first one of transpose m-4: " in outcome.stderr


@pytest.mark.usefixtures("stored")
def test_results_of_bench_are_added(autotune, tmp_path):
    without = autotune("report", "--json").json["bytes"]
    files = [str(RESULTS / f"suite-{name}.json") for name in ("gemm", "rows")]
    assert autotune("report", "--bench", files[0], "--bench", files[1], "--json").json["bytes"] > without + 5000


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("sgem", 2, "run 'sgem': expected the id of one run"),
        ("sgemm", 1, "tuning.sqlite3 has no trials of sgemm\n"),
        ("0123 --problem m64-n64-e4", 1, "has no trials of run 0123abcd that these options select\n"),
        ("--bench none.json", 2, "none.json: No such file or directory"),
        ("--device gpu", 2, "unknown device 'gpu'"),
        ("-o none/page.html", 2, "there is no folder"),
    ],
)
def test_what_selects_nothing_is_one_line(autotune, arguments, code, said):
    outcome = autotune("report", *arguments.split())
    assert (outcome.code, outcome.stdout) == (code, "")
    assert said in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_without_runs_an_operator_is_asked_for(autotune, tmp_path):
    outcome = autotune("report")
    assert outcome.code == 2
    assert "has no runs of one operator: run autotune tune, or name an operator" in outcome.stderr
    (tmp_path / "other.json").write_text(json.dumps([1]))
    outcome = autotune("report", "transpose", "--bench", str(tmp_path / "other.json"))
    assert outcome.code == 2
    assert "other.json is not a result of autotune bench" in outcome.stderr
