import shutil
import sys
from types import SimpleNamespace

import pytest
from fake_gpu import C, FakeGpu, FakeTensor

from autotune.db import TuningDB
from autotune.dispatcher import settings
from autotune.dispatcher.calls import function, resolve, serving
from autotune.dispatcher.calls import plan as plans
from autotune.dispatcher.choice import called, first_calls, formulation, records
from autotune.dispatcher.choice.choose import Choice
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.targets import factory as targets


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch, tmp_path, empty):
    """No plans, no untuned calls, no database opened yet, and none but an empty one to open."""
    (tmp_path / "pretuned").mkdir()
    shutil.copy(empty, tmp_path / "tuning.sqlite3")
    monkeypatch.setenv("AUTOTUNE_PRETUNED", str(tmp_path / "pretuned"))
    monkeypatch.setenv("AUTOTUNE_DB", str(tmp_path / "tuning.sqlite3"))
    monkeypatch.setattr(plans, "_plans", {})
    function.clear()
    monkeypatch.setattr(called, "_noted", [])
    monkeypatch.setattr(called, "_file", lambda: tmp_path / "called.json")
    monkeypatch.setattr(first_calls, "_file", lambda: tmp_path / "first-calls.json")
    records._database.cache_clear()
    yield
    records._database.cache_clear()
    settings.configure()


@pytest.fixture(autouse=True)
def own_kernels(monkeypatch):
    """Every operator serves its own problems, however few rows they have."""
    monkeypatch.setattr(formulation, "_faster", lambda *_: False)


@pytest.fixture
def database():
    """The database that the dispatcher reads."""
    with TuningDB() as database:
        yield database


@pytest.fixture
def defaults_only(monkeypatch):
    """A dispatcher that asks neither the database nor the time model, so that few kernels serve all problems."""

    def default(operator, problem, spec, known, never_worse_than=None):
        yield Choice(Rule.DEFAULT, operator.default(problem, spec))

    monkeypatch.setattr(formulation, "choices", default)
    monkeypatch.setattr(serving, "records", lambda *_: [])


@pytest.fixture
def no_launch(monkeypatch):
    """A dispatcher that may not launch anything."""

    def launched(*_):
        raise AssertionError("launched")

    monkeypatch.setattr(resolve, "plan_for", launched)
    monkeypatch.setattr(targets, "target", launched)


@pytest.fixture
def streams(monkeypatch):
    """PyTorch's current stream of each GPU."""
    current = {0: 0, 1: 77}
    torch = SimpleNamespace(
        _C=SimpleNamespace(_cuda_getCurrentRawStream=current.get),
        empty=lambda shape, dtype, device: FakeTensor(C, shape, device=device),
        float32=FakeTensor.dtype,
        is_grad_enabled=lambda: True,
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    return current


@pytest.fixture
def gpu(monkeypatch, streams):
    """All GPUs, and a PyTorch whose tensors are on them."""
    fake = FakeGpu()
    monkeypatch.setattr(plans, "target", lambda ordinal: fake)
    return fake
