"""bench torch: what it measures, its table, its JSON, its errors. Launches do nothing here."""

import json
import sys

import pytest

from autotune.bench import interleave, torch_calls
from autotune.bench.torch_calls import Cost, MeasuredCall
from autotune.cli.app import run

MODES = ["no_grad", "forward", "step"]


@pytest.fixture
def nothing_runs(monkeypatch):
    """Calls on the CPU that launch nothing, each sampled once."""
    pytest.importorskip("torch")
    from autotune.dispatcher.calls import function
    from autotune.dispatcher.targets import emulated

    monkeypatch.setattr(emulated, "command", lambda _: None)
    monkeypatch.setattr(emulated._EmulatedKernel, "bound", lambda *_: lambda _: None)
    monkeypatch.setattr(interleave, "_WARM_UP_ROUNDS", 0)
    monkeypatch.setattr(torch_calls, "_CALLS", 1)
    yield
    function.clear()
    sys.modules["autotune.dispatcher.calls.plan"]._plans.clear()


@pytest.mark.usefixtures("nothing_runs")
def test_every_case_is_measured_in_every_mode_beside_pytorchs():
    found = list(torch_calls.torch_calls((3,), 64, "cpu", 1))
    assert [call.mode for call in found] == MODES * (len(found) // 3)
    assert len({(call.case, call.mode) for call in found}) == len(found)
    for call in found:
        assert list(call.costs) == ["autotune", "torch"]
        assert all(0 < cost.host <= cost.whole for cost in call.costs.values())


@pytest.mark.usefixtures("nothing_runs")
def test_both_contenders_of_a_case_compute_as_much():
    import torch

    for case in torch_calls._cases(torch, 3, 64, "cpu"):
        ours, others = ([one] if isinstance(one, torch.Tensor) else one for one in (f() for f in case.calls.values()))
        assert [one.shape for one in ours] == [one.shape for one in others], case.name
        for call in case.calls.values():
            for one in case.tensors:
                one.grad = None
            torch_calls._step(torch, call, case.tensors)()
            assert any(one.grad is not None for one in case.tensors), case.name


@pytest.fixture
def measured(monkeypatch):
    """A GPU, and one call that was measured on it."""
    torch = pytest.importorskip("torch")
    costs = {"autotune": Cost(20e-6, 21e-6), "torch": Cost(10e-6, 500e-6)}
    calls = [MeasuredCall("linear", 1, mode, costs) for mode in MODES]
    monkeypatch.setattr(torch_calls, "missing", lambda: "")
    monkeypatch.setattr(torch_calls, "torch_calls", lambda *_: iter(calls))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    return calls


def test_the_table_has_a_line_for_each_call(measured, capsys):
    assert run(["bench", "torch"]) == 0
    out, err = capsys.readouterr()
    (row,) = (line.split() for line in out.splitlines() if line.startswith("linear "))
    assert row == ["linear", "1", *["20.0", "10.0"] * 3, "21.0", "500.0"]
    assert "NVIDIA H200" in out
    assert err.splitlines()[-1] == "3  linear, 1 tokens, step"


def test_the_file_is_what_json_prints(measured, tmp_path, capsys):
    assert run(["bench", "torch", "--json", "-o", str(tmp_path / "calls.json")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((tmp_path / "calls.json").read_text())
    assert document["calls"][2] == {
        "call": "linear",
        "tokens": 1,
        "mode": "step",
        "contenders": {"autotune": {"host": 20e-6, "whole": 21e-6}, "torch": {"host": 10e-6, "whole": 500e-6}},
    }


def test_what_was_measured_before_an_interruption_is_kept(measured, monkeypatch, capsys):
    def interrupted(*_):
        yield from measured[:2]
        raise KeyboardInterrupt

    monkeypatch.setattr(torch_calls, "torch_calls", interrupted)
    assert run(["bench", "torch", "--json"]) == 130
    out, err = capsys.readouterr()
    assert len(json.loads(out)["calls"]) == 2
    assert err.splitlines()[-1] == "autotune: interrupted; 2 calls were measured"


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(["bench", "torch"]) == 2
    assert capsys.readouterr().err == (
        "autotune: calls of PyTorch are not measured without PyTorch with CUDA: pip install torch\n"
    )
