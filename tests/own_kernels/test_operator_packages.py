"""Packages of other people add operators by entry points: the example, and what the template writes."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from own_kernels.conftest import EXAMPLES

from autotune import emulator
from autotune.contract.derived_cases import DerivedCases
from autotune.devices.driver import cuda_device_count
from autotune.new.write import write_operator
from autotune.search_spaces.contract import registry
from autotune.search_spaces.contract.generator import vouches
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.registry import _Operators
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
ROOT = Path(__file__).parents[2]
NAMES = ["axpby", "twice_it"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder as pip leaves one, with both packages; their modules are forgotten."""
    folder, sources = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("sources")
    write_operator("twice_it", sources)
    for package in (EXAMPLES.parent / "operator_package", sources / "twice_it"):
        stated = (package / "pyproject.toml").read_text()
        (name,) = (one for one in NAMES if f'{one} = "{one}:OPERATOR"' in stated)
        shutil.copytree(package / name, folder / name)
        facts = folder / f"autotune_{name}-0.1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: autotune-{name}\nVersion: 0.1.0\n")
        (facts / "entry_points.txt").write_text(f"[autotune.operators]\n{name} = {name}:OPERATOR\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", NAMES)
def test_an_installed_operator_is_one_of_all(installed, name):
    operator = _Operators({}, "autotune.operators")[name]
    assert operator is import_module(name).OPERATOR
    assert not vouches(operator)
    problem = operator.problem_type(5000)
    for schedule in operator.seeds(problem, H200)[:4]:
        for small, like in operator.checks(problem, schedule):
            emulator.verify(small, operator.program(small, like, H200))


@pytest.mark.parametrize("name", NAMES)
def test_a_bug_in_a_package_is_found(installed, name):
    operator = _Operators({}, "autotune.operators")[name]
    problem = operator.problem_type(1001)
    program = operator.program(problem, operator.default(problem, H200), H200)
    wrong = program.source.replace("arguments.n", "(arguments.n - 1)")
    assert wrong != program.source
    with pytest.raises(emulator.EmulatorError, match="wrong"):
        emulator.verify(problem, replace(program, source=wrong))


def test_the_suite_finds_a_vector_that_is_wider_than_an_alignment(installed):
    operator = _Operators({}, "autotune.operators")["axpby"]
    (kernel,) = operator.kernels
    careless = replace(operator, kernels=(Kernel(kernel.schedule_type, kernel.emit),))
    with pytest.raises(emulator.EmulatorError, match="aligned"):
        for problem, schedule in DerivedCases(careless).CASES:
            emulator.verify(problem, careless.program(problem, schedule, H200))


def test_commands_and_calls_know_it(installed, tmp_path):
    code = """
import sys, numpy as np
from autotune import dispatcher
from autotune.cli.app import run
print(dispatcher.axpby(np.ones(3, np.float32), np.ones(3, np.float32), alpha=2.0).tolist(), flush=True)
sys.exit(run("tune axpby --device h200 --n 5000 --trials 1 --json".split()))
"""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    own = {**os.environ, "PYTHONPATH": path, "AUTOTUNE_DB": str(tmp_path / "own.sqlite3")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=own)
    returned, _, tuned = done.stdout.partition("\n")
    (result,) = json.loads(tuned)["results"]
    assert (returned, result["operator"], result["problem"]) == ("[3.0, 3.0, 3.0]", "axpby", "n5000")


def suite(installed, folder, *options):
    """What pytest prints of the contract suite, in a folder without tests."""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    own = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=own)


def test_the_contract_suite_is_that_of_a_package(installed, tmp_path):
    done = suite(installed, tmp_path, "--autotune-operator", "twice_it", "-v", "-k", "reference or gpu or a_call")
    assert done.returncode == 0, done.stdout
    assert "test_reference_kernel_is_right[twice_it-" in done.stdout
    assert "test_a_call_computes_the_reference[twice_it]" in done.stdout
    assert "SKIPPED (needs an NVIDIA GPU)" in done.stdout or cuda_device_count()
    assert "sgemm" not in done.stdout
    assert not list(tmp_path.iterdir())


def test_the_contract_suite_finds_a_bug(installed, tmp_path):
    source = installed / "twice_it" / "twice_it.cuh"
    text = source.read_text()
    source.write_text(text.replace("arguments.n", "(arguments.n - 1)"))
    try:
        done = suite(installed, tmp_path, "--autotune-operator", "twice_it", "-k", "a_call_computes")
    finally:
        source.write_text(text)
    assert done.returncode == 1
    assert "FAILED" in done.stdout


def test_the_contract_suite_of_nothing(installed, tmp_path):
    done = suite(installed, tmp_path, "--autotune-operator", "twice_them")
    assert done.returncode == 4
    assert "ERROR: unknown operator 'twice_them'; did you mean twice_it" in done.stderr


def test_a_package_replaces_no_operator(monkeypatch):
    point = EntryPoint("sgemm", "os:getcwd", "autotune.operators")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    operators = _Operators({"sgemm": ".matmul.sgemm"}, "autotune.operators")
    assert operators["sgemm"].name == "sgemm"
    with pytest.warns(UserWarning, match="os: there is an operator sgemm already; its own is left out"):
        assert list(operators) == ["sgemm"]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("nowhere.mine:OPERATOR", "operator 'mine' of nowhere.mine: ModuleNotFoundError: No module named 'nowhere'"),
        ("os:getcwd", "operator 'mine' of os: expected os:getcwd to be an Operator of this name"),
    ],
)
def test_a_package_that_is_broken_is_named(monkeypatch, value, error):
    monkeypatch.setattr(registry, "entry_points", lambda group: [EntryPoint("mine", value, group)])
    with pytest.raises(ValueError, match=error):
        _Operators({}, "autotune.operators")["mine"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("sgemm", "there is an operator sgemm: expected another name"),
        ("Twice", "'Twice': expected a name of small letters"),
        ("../up", "'../up': expected a name of small letters"),
        ("class", "class is a word of Python's language: expected another name"),
        ("numpy", "there is a Python package numpy, which could not be imported any more"),
        ("there", "there exists: expected a name without a folder here"),
    ],
)
def test_names_that_cannot_be_new(tmp_path, name, error):
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match=error):
        write_operator(name, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_the_template_ships():
    folder = ROOT / "autotune" / "new" / "template"
    assert len([path for path in folder.rglob("*") if path.is_file()]) == len([*folder.rglob("*.in")]) == 5
    assert '"autotune.new" = ["template/**"]' in (ROOT / "pyproject.toml").read_text()
