"""The examples run as they are."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def errors(name, capsys):
    runpy.run_path(str(EXAMPLES / name))
    return [float(line.rpartition(": ")[2]) for line in capsys.readouterr().out.splitlines()]


def test_numpy_emulator(capsys):
    assert max(errors("numpy_emulator.py", capsys)) < 1e-4


def test_optuna_study(capsys):
    study = runpy.run_path(str(EXAMPLES / "optuna_study.py"), run_name="__main__")["study"]
    assert [trial.state.name for trial in study.trials] == ["COMPLETE"] * 4
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 4
    assert " µs with {" in capsys.readouterr().out


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["torch_sgemm.py", "torch_linear.py", "cupy_sgemm.py"])
def test_on_a_gpu(name, capsys):
    pytest.importorskip(name.partition("_")[0])
    assert max(errors(name, capsys)) < 1e-2
