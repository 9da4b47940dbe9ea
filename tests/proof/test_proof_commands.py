"""The proof's operator through the compiler, the command line and the tuner, without a GPU."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from probe import OPERATOR, ProbeProblem, ProbeSchedule, emit
from probe_calls import device_with_probe

from autotune.cli.app import run
from autotune.compiler import CompileError, cached_kernel, compile_kernel
from autotune.db import Status, TuningDB
from autotune.devices.worker_device import WorkerDevice
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import TuneOptions, tune

PROBLEM = ProbeProblem(64, 128, True)
COPIED, LOADED = ProbeSchedule(tensor_copy=True), ProbeSchedule()


def test_the_suffix_reaches_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    program = emit(PROBLEM, COPIED)
    without = replace(program, others=tuple(replace(one, arch_suffix="") for one in program.others))
    assert compile_kernel(program, "sm_90").resources.registers > 0
    assert cached_kernel(program, "sm_90") and not cached_kernel(without, "sm_90")
    with pytest.raises(CompileError, match="wgmma"):
        compile_kernel(without, "sm_90")
    assert compile_kernel(emit(PROBLEM, LOADED), "sm_75").resources.registers > 0


@pytest.mark.parametrize(("device", "arch"), [("a100", "sm_80"), ("b200", "sm_100")])
def test_other_architectures_refuse_it_in_one_line(device: str, arch: str) -> None:
    spec = named_device(device)
    assert OPERATOR.violations(PROBLEM, COPIED, spec) == [f"instructions of sm_90a are not those of {arch}"]
    assert not OPERATOR.violations(PROBLEM, OPERATOR.default(PROBLEM, spec), spec)
    assert not OPERATOR.violations(PROBLEM, COPIED, named_device("h200"))


def test_emit_states_all_steps_and_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("emit", "probe", "--rows", "64", "--columns", "128", "--biased", "--device", "h200", "--json")
    assert run(list(words)) == 0
    document = json.loads(capsys.readouterr().out)
    assert [step["step"] for step in document["steps"]] == ["launch", "memset", "launch"]
    assert {module["arch_suffix"] for module in document["modules"]} == {"a"}
    assert [step.get("module", 0) for step in document["steps"]] == [0, 0, 1]
    (first, *_), (_, *others) = (module["arguments"] for module in document["modules"])
    assert (first["tensor_map"]["tensor"], first["tensor_map"]["swizzle"]) == ("x", "128B")
    assert [a["name"] for a in others[:3]] == ["offset", "y", "kept"]
    assert document["digest"] == emit(PROBLEM, COPIED).digest


def test_it_is_tuned(tmp_path: Path) -> None:
    with (
        WorkerDevice(partial(device_with_probe, "h200")) as device,
        TuningDB(str(tmp_path / "tuning.sqlite3")) as database,
    ):
        found = tune(OPERATOR, PROBLEM, device, database, TuneOptions(trials=3, compile_workers=1))
        best = database.best(OPERATOR.name, PROBLEM.key, device.spec.name)
    assert found.by_status == {Status.OK: 3}
    assert found.best
    assert best == found.best
