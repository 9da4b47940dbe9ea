"""explain: which rule chooses, for people and for scripts."""

from pathlib import Path

from cli_command import Command

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.db.exchange import to_document, write_document

PROBLEM = ("--device", "h200", "--m", "520", "--n", "512", "--k", "512")


def test_it_prints_what_a_call_gets(autotune: Command, tmp_path: Path) -> None:
    from dispatcher.records import schedule, trial

    known = SgemmProblem(512, 512, 512)
    write_document(tmp_path / "known.json", to_document([trial(known, schedule(7, known), seconds=1e-5)]))
    assert autotune("db", "import", str(tmp_path / "known.json")).code == 0
    document = autotune("explain", "sgemm", *PROBLEM, "--json").json
    assert document["chosen"] == document["considered"][0]
    assert document["chosen"]["rule"] == "nearest"
    assert document["chosen"]["record"] == known.key
    assert document["chosen"]["schedule"]["raster_group"] == 107
    assert [choice["rule"] for choice in document["considered"]] == ["nearest", "model", "default"]
    chosen, considered = autotune("explain", "sgemm", *PROBLEM).stdout.split("Considered")
    for word in ("nearest: the record of a similar problem", known.key, "10 µs predicted", "raster_group=107"):
        assert word in chosen
    assert [line.split()[0] for line in considered.splitlines()[3:6]] == ["nearest", "model", "default"]
    exact = autotune("explain", "sgemm", "--device", "h200", "--m", "512", "--n", "512", "--k", "512").stdout
    assert "10 µs measured" in exact
    assert "distance" not in exact.split("Considered")[0]


def test_bad_input_is_one_line(autotune: Command) -> None:
    outcome = autotune("explain", "sgemm", "--m", "-1")
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr == "autotune: m=-1: expected 0 … 2147483647\n"
