"""bench search, bench model and convert: their tables, their JSON, and what they refuse."""

import json
from pathlib import Path

import pytest
from cli_command import Command
from recording_factory import recording

QUICK = ("--seeds", "2", "--evaluations", "40", "--searchers", "random,tpe")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(recording(tmp_path_factory.mktemp("recording") / "small.jsonl.gz", 40))


def test_a_row_for_each_search_and_the_same_as_json(autotune: Command, path: str) -> None:
    outcome = autotune("bench", "search", "--recording", path, *QUICK, "--json")
    assert outcome.code == 0
    document = outcome.json
    assert (document["seeds"], document["evaluations"], document["ahead"]) == (2, 40, 1)
    assert [result["searcher"] for result in document["results"]] == ["random", "tpe"]
    near, nearer = document["results"][0]["within"]
    assert (near["margin"], nearer["margin"], near["reached"]) == (0.05, 0.01, 2)
    assert all(a <= b for a, b in zip(near["evaluations"], nearer["evaluations"], strict=True))
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
def test_bad_input_is_one_line(autotune: Command, path: str, arguments: tuple[str, ...], message: str) -> None:
    outcome = autotune("bench", "search", "--recording", path, *arguments)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert Path(path).exists()


@pytest.mark.parametrize(
    ("name", "member", "count"), [("kernel-tuner", "cache", 40), ("t1", "ConfigurationSpace", 1), ("t4", "results", 40)]
)
def test_a_recording_is_converted(
    autotune: Command, path: str, tmp_path: Path, name: str, member: str, count: int
) -> None:
    output = tmp_path / "out.json"
    assert autotune("convert", path, "--to", name, "-o", str(output)).code == 0
    assert len(json.loads(output.read_text())[member]) == count
    outcome = autotune("convert", path, "--to", "csv", "-o", str(output))
    assert outcome.code == 2
    assert "'kernel-tuner', 't1', 't4'" in outcome.stderr
    assert autotune("convert", "README.md", "--to", name, "-o", str(output)).code == 2


def test_the_model_is_judged_on_each_recording(autotune: Command, path: str, tmp_path: Path) -> None:
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
def test_what_cannot_be_fitted_is_said_in_one_line(autotune: Command, arguments: tuple[str, ...], message: str) -> None:
    outcome = autotune("bench", "model", *arguments)
    assert outcome.code == 2
    assert message in outcome.stderr
