"""The examples run as they are."""

import runpy
import subprocess
import sys

import numpy as np
import pytest
from doc_pages import ROOT, blocks

EXAMPLES = ROOT / "examples"


def errors(name, capsys):
    runpy.run_path(str(EXAMPLES / name))
    return [float(line.rpartition(": ")[2]) for line in capsys.readouterr().out.splitlines()]


def test_numpy_emulator(capsys):
    assert max(errors("numpy_emulator.py", capsys)) < 1e-4


def test_generated_text(capsys):
    runpy.run_path(str(EXAMPLES / "generate_text.py"), run_name="__main__")
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["greedy", "top-k", "top-p", "beam"]
    assert last == "NumPy generates the same"


def test_numpy_detector(capsys, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "argv", ["numpy_detector.py", str(tmp_path / "seen.png")])
    pictures = runpy.run_path(str(EXAMPLES / "numpy_detector.py"))
    found = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    there = {(65, 195): "disc", (90, 70): "square", (170, 150): "disc", (255, 65): "square", (285, 185): "square"}
    corners = [[int(number) for number in text.strip("[]").split(",")] for *_, text in found]
    centers = [((x1 + x2) // 2, (y1 + y2) // 2) for x1, y1, x2, y2 in corners]
    assert dict(zip(centers, (name for name, *_ in found), strict=True)) == there
    assert np.array_equal(
        pictures["read_png"](tmp_path / "seen.png"), pictures["read_png"](EXAMPLES / "shapes-seen.png")
    )
    assert np.array_equal(pictures["picture"], runpy.run_path(str(EXAMPLES / "pictures.py"))["shapes"]())


def test_optuna_study(capsys):
    study = runpy.run_path(str(EXAMPLES / "optuna_study.py"), run_name="__main__")["study"]
    assert [trial.state.name for trial in study.trials] == ["COMPLETE"] * 4
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 4
    assert " µs with {" in capsys.readouterr().out


@pytest.mark.parametrize("differ", [False, True])
def test_ranks_that_differ_fail(differ):
    command = [sys.executable, EXAMPLES / "same_on_all_ranks.py", *(["--differ"] if differ else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("the ranks differ")) == ((1, 2) if differ else (0, 0)), done.stderr
    assert done.stdout.count("2 choices, fingerprint") == (0 if differ else 2)
    if differ:
        shown = next(block.code for block in blocks(ROOT / "docs" / "serving.md") if block.language == "text")
        _, *lines = shown.partition("$ AUTOTUNE_LOCK")[0].splitlines()
        assert sorted(lines) == sorted(done.stderr.splitlines())


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["torch_sgemm.py", "torch_linear.py", "cupy_sgemm.py"])
def test_on_a_gpu(name, capsys):
    pytest.importorskip(name.partition("_")[0])
    assert max(errors(name, capsys)) < 1e-2


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_transformer_of_ours_ends_at_the_loss_of_pytorchs(device):
    pytest.importorskip("torch")
    found = runpy.run_path(str(EXAMPLES / "torch_transformer.py"))["main"](["--device", device])
    ours, theirs = found["autotune", 0.0, 0], found["PyTorch", 0.0, 0]
    np.testing.assert_allclose(ours.losses[:10].cpu(), theirs.losses[:10].cpu(), rtol=1e-4)
    assert ours.last_loss == pytest.approx(theirs.last_loss, rel=0.02)
    ours, theirs, other = found["autotune", 0.1, 0], found["PyTorch", 0.1, 0], found["PyTorch", 0.1, 1]
    spread = abs(other.last_loss - theirs.last_loss)
    assert ours.last_loss == pytest.approx(theirs.last_loss, rel=0.1, abs=2 * spread)
