"""bench dispatch without a GPU: its tables, its JSON, its errors."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dispatcher.records import schedule, trial
from factories import recording

from autotune.bench.dispatch import held_out as regret
from autotune.bench.search import compare
from autotune.cli.commands import bench_dispatch
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.db import TuningDB

BENCH = ("bench", "dispatch", "--device", "h200", "--splits", "2", "--random", "3")


@pytest.fixture
def recorded(environment, monkeypatch):
    """Six records, each of which is twice as fast as what else its problem is given."""
    with TuningDB() as database:
        for number in range(6):
            known = SgemmProblem(512 + 8 * number, 512, 512)
            database.record(trial(known, schedule(number, known)))
    monkeypatch.setattr(
        regret, "modelled", lambda *_: lambda problem, schedules: [1e-3, *(2e-3 for _ in schedules[1:])]
    )
    monkeypatch.setattr(regret, "compiled", lambda *_: None)
    monkeypatch.setattr(bench_dispatch, "_DRAWN", 5)


@pytest.mark.usefixtures("recorded")
def test_it_prints_and_writes_the_regret(autotune, tmp_path):
    outcome = autotune(*BENCH, "-o", str(tmp_path / "dispatch.json"))
    rows = [line.split() for line in outcome.stdout.splitlines() if line.startswith("all ")]
    assert rows == [["all", "4", *["100.0%"] * 6], ["all", "5", *["0.0%"] * 3, *["100.0%"] * 3]]
    assert outcome.stderr.splitlines()[3].startswith("4/4  ")
    assert outcome.stderr.splitlines()[-1].startswith("3/3 random sizes  ")
    document = autotune(*BENCH, "--json").json
    assert document["regret"] == document["regret_warmed"] == {"median": 1.0, "percentile_95": 1.0, "largest": 1.0}
    assert (document["time_source"], document["overheads"], document["first_call"]) == ("modelled", {}, {})
    assert [case["loss"] for case in document["random"]] == [0, 0, 0, None, None]
    assert {case["rule"] for case in document["cases"]} == {"nearest"}
    assert json.loads((tmp_path / "dispatch.json").read_text()) == document


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("measured", "missing", "shown"),
    [
        (0, "4 of 4 cases", {"cases": 0, "random": 0}),
        (2, "2 of 4 cases", {"cases": 2, "random": 0}),
        (6, "1 of 3 random sizes", {"cases": 4, "random": 5}),
    ],
)
def test_an_interrupted_run_shows_what_it_measured(autotune, monkeypatch, measured, missing, shown):
    problems = []

    def measure(problem, schedules):
        problems.append(problem)
        if len(problems) > measured:
            raise KeyboardInterrupt
        return [1e-3 for _ in schedules]

    monkeypatch.setattr(regret, "modelled", lambda *_: measure)
    assert autotune(*BENCH).code == 130
    problems.clear()
    outcome = autotune(*BENCH, "--json")
    assert outcome.code == 130
    assert outcome.stderr.splitlines()[-1] == f"autotune: interrupted; {missing} were not measured"
    assert {name: len(outcome.json[name]) for name in shown} == shown


def test_too_few_records_are_one_line(autotune):
    outcome = autotune(*BENCH)
    assert (outcome.code, outcome.stdout) == (1, "")
    assert outcome.stderr.startswith("autotune: 0 problems of sgemm have records on NVIDIA H200: 3 or more are needed")


def test_operators_are_benched_as_before(autotune):
    outcome = autotune("bench", "--help")
    assert all(name in outcome.stdout for name in ("sgemm", "transpose", "dispatch"))


QUICK = ("--seeds", "2", "--evaluations", "40", "--searchers", "random,tpe")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return str(recording(tmp_path_factory.mktemp("recording") / "small.jsonl.gz", 40))


def test_a_row_for_each_search_and_the_same_as_json(autotune, path, monkeypatch):
    outcome = autotune("bench", "search", "--recording", path, *QUICK, "--json")
    assert outcome.code == 0
    document = outcome.json
    assert (document["seeds"], document["evaluations"], document["ahead"]) == (2, 40, 1)
    assert [result["searcher"] for result in document["results"]] == ["random", "tpe"]
    near, nearer = document["results"][0]["within"]
    assert (near["margin"], nearer["margin"], near["reached"]) == (0.05, 0.01, 2)
    assert all(a <= b for a, b in zip(near["evaluations"], nearer["evaluations"], strict=True))
    monkeypatch.setattr(compare, "ProcessPoolExecutor", lambda mp_context: ThreadPoolExecutor(1))  # starts at once
    table = autotune("bench", "search", "--recording", path, *QUICK)
    assert "small.jsonl.gz  random" in table.stdout
    assert "2/2" in table.stdout
    assert "1/2  small.jsonl.gz random" in table.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--searchers", "tpe,best"), "unknown search 'best'; known: bayes, "),
        (("--recording", "README.md"), "README.md is not a recording"),
    ],
)
def test_bad_input_is_one_line(autotune, path, arguments, message):
    assert message in autotune("bench", "search", "--recording", path, *arguments).refusal
    assert Path(path).exists()


@pytest.mark.parametrize(
    ("name", "member", "count"), [("kernel-tuner", "cache", 40), ("t1", "ConfigurationSpace", 1), ("t4", "results", 40)]
)
def test_a_recording_is_converted(autotune, path, tmp_path, name, member, count):
    output = tmp_path / "out.json"
    assert autotune("convert", path, "--to", name, "-o", str(output)).code == 0
    assert len(json.loads(output.read_text())[member]) == count
    outcome = autotune("convert", path, "--to", "csv", "-o", str(output))
    assert outcome.code == 2
    assert "'kernel-tuner', 't1', 't4'" in outcome.stderr
    assert autotune("convert", "README.md", "--to", name, "-o", str(output)).code == 2


def test_the_model_is_judged_on_each_recording(autotune, path, tmp_path):
    other = str(recording(tmp_path / "other.jsonl.gz", 15))
    document = autotune("bench", "model", "--recording", path, "--recording", other, "--json").json
    assert [result["schedules"] for result in document["results"]] == [40, 15]
    assert all(-1 <= result["rank_correlation"] <= 1 and result["regret"] >= 0 for result in document["results"])
    assert all(result["level"] > 0 and result["spread"] > 0 for result in document["results"])
    assert "small.jsonl.gz" in autotune("bench", "model", "--recording", path).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected --recording FILE, or --fit SECTION"),
        (("--fit", "speed"), "unknown section 'speed'"),
        (("--fit", "attention.flash"), "no measured trial of attention"),
    ],
)
def test_what_cannot_be_fitted_is_said_in_one_line(autotune, arguments, message):
    outcome = autotune("bench", "model", *arguments)
    assert outcome.code == 2
    assert message in outcome.stderr
