"""The proof's operator as users reach it: on NumPy arrays, by the command line and through the tuner."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from probe import OPERATOR, ProbeProblem, ProbeSchedule, emit
from probe_calls import arrays, assert_right, device_with_probe, empty_outputs

from autotune import dispatcher
from autotune.cli.app import run
from autotune.compiler import CompileError, cached_kernel, compile_kernel
from autotune.db import Status, TuningDB
from autotune.devices.worker_device import WorkerDevice
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import TuneOptions, tune


@pytest.mark.parametrize("biased", [False, True])
def test_an_array_may_be_left_out(biased):
    given = arrays(0, biased=biased)
    assert_right(given, *dispatcher.probe(**given))


def test_a_call_follows_its_arrays():
    """Tensor maps are made anew for each address. What is behind the counts stays."""
    out = empty_outputs()
    for seed in (1, 2):
        given = arrays(seed)
        out[2].fill(-seed)
        assert all(a is b for a, b in zip(dispatcher.probe(**given, out=out), out, strict=True))
        assert_right(given, *out)
        assert (out[2] == -seed).sum() == out[2].size - out[1].sum()


def test_an_output_may_be_an_input():
    given = arrays(3)
    x = given["x"].copy()
    _, kept, rows = empty_outputs()
    y, *_ = dispatcher.probe(x, given["offset"], given["bias"], out=(x, kept, rows))
    assert y is x
    assert_right(given, x, kept, rows)
    with pytest.raises(ValueError, match="y overlaps x in part"):
        dispatcher.probe(x[:-1], given["offset"], out=(x[1:], kept, rows[:, 1:].copy()))
    with pytest.raises(ValueError, match="kept overlaps bias"):
        dispatcher.probe(x, given["offset"], given["bias"], out=(x, given["bias"].view(np.int32), rows))


def test_a_plan_reads_what_its_arrays_hold_at_each_call():
    given = arrays(4)
    step = dispatcher.plan(OPERATOR.name, given["x"], given["offset"], given["bias"])
    assert step.choice
    assert step.choice.schedule.to_dict()["tensor_copy"]
    for offset in (2**64 - 1, 5):
        given["offset"][0] = offset
        assert_right(given, *step())


PROBLEM = ProbeProblem(64, 128, True)
COPIED, LOADED = ProbeSchedule(tensor_copy=True), ProbeSchedule()


def test_the_suffix_reaches_the_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    program = emit(PROBLEM, COPIED)
    without = replace(program, others=tuple(replace(one, arch_suffix="") for one in program.others))
    assert compile_kernel(program, "sm_90").resources.registers > 0
    assert cached_kernel(program, "sm_90") and not cached_kernel(without, "sm_90")
    with pytest.raises(CompileError, match="wgmma"):
        compile_kernel(without, "sm_90")
    assert compile_kernel(emit(PROBLEM, LOADED), "sm_75").resources.registers > 0


@pytest.mark.parametrize(("device", "arch"), [("a100", "sm_80"), ("b200", "sm_100")])
def test_other_architectures_refuse_it_in_one_line(device, arch):
    spec = named_device(device)
    assert OPERATOR.violations(PROBLEM, COPIED, spec) == [f"instructions of sm_90a are not those of {arch}"]
    assert not OPERATOR.violations(PROBLEM, OPERATOR.default(PROBLEM, spec), spec)
    assert not OPERATOR.violations(PROBLEM, COPIED, named_device("h200"))


def test_emit_states_all_steps_and_arguments(capsys):
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


def test_it_is_tuned(tmp_path):
    with (
        WorkerDevice(partial(device_with_probe, "h200")) as device,
        TuningDB(str(tmp_path / "tuning.sqlite3")) as database,
    ):
        found = tune(OPERATOR, PROBLEM, device, database, TuneOptions(trials=3, compile_workers=1))
        best = database.best(OPERATOR.name, PROBLEM.key, device.spec.name)
    assert found.by_status == {Status.OK: 3}
    assert found.best
    assert best == found.best
