"""The installed command, in a process of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from mutants.cache import cache_with_runtime

from autotune.devices.driver import cuda_device_count
from autotune.devices.select import selected_spec
from autotune.search_spaces.contract.registry import OPERATORS, operator

AUTOTUNE = Path(sys.executable).with_name("autotune")
SMALL = ("tune", "transpose", "--device", "t4", "--m", "64", "--n", "64")


def called(*arguments, folder):
    return subprocess.run([AUTOTUNE, *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_help_and_version(tmp_path):
    assert called("--version", folder=tmp_path).stdout == f"autotune {version('autotune')}\n"
    text = called("--help", folder=tmp_path).stdout
    commands = ("tune", "emit", "show", "bench", "devices", "db", "doctor")
    positions = [text.index(f"│ {command} ") for command in commands]
    assert positions == sorted(positions)
    alone = called(folder=tmp_path)
    assert (alone.returncode, alone.stdout) == (0, text)


def test_help_imports_nothing_slow():
    script = """
import sys
from autotune.cli.app import run
run(["--help"])
sys.exit(", ".join({"alembic", "cuda", "numpy", "optuna", "sqlalchemy"} & set(sys.modules)) or None)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_bad_input_is_two(tmp_path):
    result = called("tune", "nosuch", folder=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"autotune: unknown operator 'nosuch'; known: {', '.join(OPERATORS)}\n"


def test_tuned_once_and_known_from_then_on(environment, tmp_path):
    first = json.loads(called(*SMALL, "--trials", "2", "--json", folder=tmp_path).stdout)["results"][0]
    second = json.loads(called(*SMALL, "--trials", "1", "--json", folder=tmp_path).stdout)["results"][0]
    assert (first["evaluated"], first["known"]) == (2, 0)
    assert (second["evaluated"], second["known"]) == (1, 2)
    assert second["best"]["seconds"] <= first["best"]["seconds"]
    assert 'extern "C"' in Path(second["source"]).read_text()
    (best,) = json.loads(called("db", "best", "transpose", "--json", folder=tmp_path).stdout)
    assert best == second["best"]


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_what_an_encoding_lacks_is_escaped(environment, tmp_path, monkeypatch, encoding):
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    shown = json.loads(called("show", "sgemm", "--json", folder=tmp_path).stdout)
    assert shown["summary"] == operator("sgemm").summary
    assert not shown["summary"].isascii()
    text = called("show", "sgemm", folder=tmp_path)
    assert (text.returncode, text.stderr) == (0, "")
    assert (r" \u00b1 " if encoding == "ascii" else " ± ") in text.stdout


def test_a_locale_without_unicode(environment, tmp_path, monkeypatch):
    """Sources of kernels have such characters, in comments."""
    for name, value in (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("PYTHONCOERCECLOCALE", "0")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AUTOTUNE_CACHE", str(cache_with_runtime(tmp_path / "cache")))
    done = called(*SMALL, "--trials", "1", folder=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.gpu
def test_all_gpus_share_a_suite(environment, tmp_path):
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps([{"m": m} for m in range(64, 64 + 16)]))
    options = ("--device", "all", "--suite", str(suite), "--n", "64", "--trials", "3", "--json")
    outcome = called("tune", "transpose", *options, folder=tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    runs = json.loads(outcome.stdout)["results"]
    gpus = {}
    for ordinal in range(cuda_device_count()):
        gpus.setdefault(selected_spec(str(ordinal)).name, set()).add(str(ordinal))
    assert sorted((run["device"], run["fields"]["m"]) for run in runs) == [
        (model, m) for model in sorted(gpus) for m in range(64, 64 + 16)
    ]
    assert {model: {run["selector"] for run in runs if run["device"] == model} for model in gpus} == gpus
    assert {run["best"]["time_source"] for run in runs} == {"measured"}


@pytest.mark.parametrize(("number", "devices"), [(signal.SIGINT, ["t4"]), (signal.SIGTERM, ["t4", "h200"])])
def test_ctrl_c_keeps_what_was_done(environment, tmp_path, number, devices):
    run_on = ("--device", ",".join(devices), "--trials", "100000", "--json")
    with subprocess.Popen(
        [AUTOTUNE, *SMALL, *run_on],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    ) as process:  # fmt: skip
        assert process.stderr and process.stdout
        for _ in devices:
            next(line for line in process.stderr if "1/100000  " in line)
        process.send_signal(number)
        rest, stdout = process.stderr.read(), process.stdout.read()
    assert process.returncode == 130, rest
    assert rest.splitlines()[-1] == (
        "autotune: interrupted; every trial is stored, and the same command continues from there"
    )
    runs = json.loads(stdout)["results"]
    assert sorted(run["selector"] for run in runs) == sorted(devices)
    assert all(run["interrupted"] for run in runs)
    kept = json.loads(called("db", "trials", "--json", folder=tmp_path).stdout)
    assert len(kept) == min(20, sum(run["evaluated"] for run in runs))


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    ("working", "line"),
    [("", "autotune needs Python 3.11 or newer"), ("*version_info*", "has no venv; install it")],
)
def test_make_says_what_python_lacks(tmp_path, working, line):
    """A stand-in for Python, of which only the scripts that match `working` succeed."""
    shutil.copy(Path(__file__).parents[2] / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ncase "$2" in {working or "none"}) exit 0;; esac; exit 1\n')
    python.chmod(0o755)
    result = subprocess.run(
        ["make", "demo", f"PYTHON={python}"],
        cwd=tmp_path, env=os.environ | {"MAKEFLAGS": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode != 0
    assert line in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("run", "code"),
    [
        ("raise KeyboardInterrupt", 130),  # while the first Ctrl-C ends the command
        ("atexit.register(os.kill, os.getpid(), signal.SIGINT); return 0", 0),  # while the interpreter ends
    ],
)
def test_a_second_ctrl_c_shows_no_traceback(run, code):
    program = f"""
import atexit, os, signal
from autotune.cli import app

def run(arguments):
    {run}

app.run = run
app.main()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (code, "")


def test_closed_streams_drop_what_is_written():
    assert subprocess.run(["sh", "-c", '"$0" devices >&- 2>&-', AUTOTUNE], check=False).returncode == 0
