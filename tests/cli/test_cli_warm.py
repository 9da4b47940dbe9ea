"""warm: what it compiles lies in the cache, where the dispatcher looks."""

from pathlib import Path

import pytest
from cli_command import Command

from autotune import compiler
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

WARM = ("warm", "transpose", "--device", "h200", "--n", "33")


def test_what_it_compiled_is_not_compiled_again(
    autotune: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 40}, {"m": 72}]')
    outcome = autotune(*WARM, "--suite", str(suite), "--json")
    assert [entry["problem"] for entry in outcome.json] == ["m40-n33-e4", "m72-n33-e4"]
    assert outcome.stderr == "1/2  m40-n33-e4\n2/2  m72-n33-e4\n"
    monkeypatch.setattr(compiler, "_built", None)  # nothing can be compiled any more
    transpose, spec = operator("transpose"), named_device("h200")
    for m, entry in zip((40, 72), outcome.json, strict=True):
        schedule = transpose.schedule(entry["schedule"])
        problem = transpose.problem_type(m, 33)
        assert compiler.compile_kernel(transpose.program(problem, schedule, spec), spec.arch).cubin


def test_people_get_a_table(autotune: Command) -> None:
    outcome = autotune(*WARM, "--m", "40")
    assert outcome.code == 0
    assert "model" in next(line for line in outcome.stdout.splitlines() if "m40-n33-e4" in line)
