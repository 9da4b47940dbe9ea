"""runs: the list, one run, and the best trials of one."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from test_cli_database import trial

from autotune.db import Outcome, RunRecord, TuningDB

BEGUN = datetime(2026, 11, 21, 12, tzinfo=UTC)
DEVICE = {"selector": "h200", "model": "NVIDIA H200", "time_source": "modelled", "driver": "580"}


@pytest.fixture
def two(environment):
    """A run of two trials that was interrupted, and a later one with the best time that never ended."""
    known = trial("sgemm", "m1-n1-k1-nn", "h200", 2e-6)
    with TuningDB() as db:
        for number, name in enumerate(("0123abcd", "4567cdef")):
            begun = BEGUN + timedelta(hours=number)
            command = f"autotune tune sgemm --seed {number}"
            run = RunRecord(command, "sgemm", {"trials": 2}, "bayes", number, [DEVICE], name, begun)
            with db.running(run):
                time = (3e-6, 1e-6)[number]
                schedule = {"schedule_digest": name, "conditions": {"celsius": 40 + number, "reason": "none"}}
                db.record(replace(known, run=name, samples=(time,), **schedule))
                if not number:
                    db.record(replace(trial("sgemm", "m1-n1-k1-nn", "h200", None), run=name))
                    db.end_run(name, Outcome.INTERRUPTED)


@pytest.mark.usefixtures("two")
def test_runs_are_listed_newest_first(autotune):
    listed = autotune("runs", "--json").json
    assert [(one["id"], one["state"], one["counts"]) for one in listed] == [
        ("4567cdef", "killed", {"ok": 1}),
        ("0123abcd", "interrupted", {"ok": 1, "wrong": 1}),
    ]
    assert [one["id"] for one in autotune("runs", "--limit", "1", "--json").json] == ["4567cdef"]
    table = autotune("runs").stdout
    assert table.index("autotune tune sgemm --seed 1") < table.index("autotune tune sgemm --seed 0")


@pytest.mark.usefixtures("two")
def test_the_list_fits_80_columns(autotune, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = [re.sub(r"\x1b\[\d*m", "", line).rstrip() for line in autotune("runs").stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    (line,) = (line for line in lines if "0123abcd" in line)
    assert line.split()[0] == "0123abcd"
    assert line.split()[3] == "interrupted"
    assert line.split()[-2:] == ["2", "1"]
    assert "operator sgemm" in lines[0]


@pytest.mark.usefixtures("two")
def test_a_run_is_shown_with_its_best_trials(autotune):
    shown = autotune("runs", "show", "0123").stdout
    for words in ("interrupted", "autotune tune sgemm --seed 0", "bayes, seed 0", "trials 2", "driver 580"):
        assert words in shown
    assert "celsius 40 to 40" in shown
    assert "1 ok, 1 wrong" in shown
    assert "3 µs" in shown and "1 µs" not in shown
    document = autotune("runs", "show", "0123", "--json").json
    assert (document["id"], document["seed"], document["conditions"]) == ("0123abcd", 0, {"celsius": [40, 40]})
    assert [one["seconds"] for one in document["best"]] == [3e-6]


@pytest.mark.usefixtures("two")
def test_best_of_a_run(autotune):
    assert [one["seconds"] for one in autotune("db", "best", "--run", "0123abcd", "--json").json] == [3e-6]
    assert [one["seconds"] for one in autotune("db", "best", "--json").json] == [1e-6]


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("runs show 9", "run '9': expected the id of one run, which autotune runs lists; this is none of them"),
        ("db best --run 9", "run '9': expected the id of one run"),
        ("db best --run=", "run '': expected the id of one run"),
        ("runs --limit 1 show 0123", "write them after autotune runs show"),
    ],
)
def test_what_names_no_run_is_bad_input(autotune, arguments, said):
    assert said in autotune(*arguments.split()).refusal


def test_no_runs_are_one_line(autotune):
    outcome = autotune("runs")
    assert (outcome.code, outcome.stdout, outcome.stderr) == (0, "", "no runs; run autotune tune first\n")


@pytest.mark.usefixtures("two")
def test_an_export_that_cannot_be_written_is_one_line(autotune, tmp_path):
    assert (
        "there is no folder"
        in autotune("runs", "export", "0123", "--optuna", str(tmp_path / "none" / "run.journal")).refusal
    )
