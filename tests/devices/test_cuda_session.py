"""What a session on a GPU verifies, and when; the GPU is a stand-in in host memory."""

import ctypes
from dataclasses import dataclass, replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from host_driver import HostVerifier, Loaded, host_context
from optuna.pruners import BasePruner, NopPruner
from optuna.trial import TrialState

from autotune.base.cuda_core import CUDAError
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import layout
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Work
from autotune.db.states import Status
from autotune.devices import cuda_session, race
from autotune.devices.base import DeviceError
from autotune.devices.cuda_session import CudaSession
from autotune.search_spaces.machine.devices import named_device

SPEC = replace(named_device("h200"), l2_bytes=1024)
SIZE, INSIDE = 7, [0, 1, 2, 4, 5, 6]  # two rows of three elements, with a gap between


@dataclass(frozen=True)
class Increment(Problem):
    """y = x + 1, or y += x + 1."""

    accumulate: bool = False
    in_place: bool = False
    repeatable: bool = True
    exact: bool = False
    bytes: int = layout(48)

    @property
    def work(self):
        return Work(self.bytes)

    @property
    def deterministic(self):
        return self.repeatable

    @property
    def tensors(self):
        layout = DType.FLOAT32, (2, 3), (4, 1)
        role = Role.IN_OUT if self.accumulate else Role.OUTPUT
        y = Tensor("y", *layout, role, 4, Within(absolute=0.1), "x" if self.in_place else "")
        return Tensor("x", *layout, Role.INPUT, 4), y

    def inputs(self, seed):
        x = np.arange(SIZE, dtype=np.float32)
        return {"x": x, "y": 10 * x} if self.accumulate else {"x": x}

    def exact_inputs(self, seed):
        return {name: 2 * array for name, array in self.inputs(seed).items()} if self.exact else None

    def reference(self, inputs, scalars):
        raise NotImplementedError


POINTERS = tuple(Argument(name, "float*") for name in ("x", "y", "workspace"))
PROGRAM = Program("", POINTERS, (Launch("increment", (1, 1, 1), (1, 1, 1)),))
WITH_WORKSPACE = replace(PROGRAM, workspace_bytes=8)
OPERATOR: Any = SimpleNamespace(reference=lambda problem: PROGRAM)


def elements(address, number=ctypes.c_float):
    return np.ctypeslib.as_array((number * SIZE).from_address(address))


def reference(accumulate):
    def kernel(a):
        y = elements(a.y, ctypes.c_double)
        y[INSIDE] = elements(a.x)[INSIDE] + 1 + (y[INSIDE] if accumulate else 0)

    return kernel


def right(a):
    elements(a.y)[INSIDE] = elements(a.x)[INSIDE] + 1


@pytest.fixture
def evaluate(monkeypatch):
    """What one session says about kernels, one after another."""

    def run(*kernels, problem=Increment(), program=PROGRAM, pruner=None):
        context = host_context(monkeypatch, SPEC, reference(problem.accumulate))
        with CudaSession(context, OPERATOR, problem, 0, pruner) as session:
            compiled = kernels
            return [session.evaluate(Schedule(), program, kernel) for kernel in compiled]

    return run


def test_a_right_kernel_is_launched_before_between_and_after_the_samples(evaluate):
    launches = count()

    def counted(a):
        next(launches)
        right(a)

    (found,) = evaluate(counted)
    assert (found.status, found.error, found.max_error) == (Status.OK, "", 0)
    assert found.samples == (pytest.approx(1e-3),) * 10
    assert next(launches) == 2 + 10 + 2


def test_caches_are_flushed_before_the_first_event_of_a_sample(monkeypatch):
    context, flushed = host_context(monkeypatch, SPEC, reference(False)), []
    handle = context.handle

    def flush(_verifier, buffer, *, guards_only):
        flushed.append(buffer.size)
        next(handle.milliseconds)

    monkeypatch.setattr(HostVerifier, "queue_checksum", flush)
    kernel = right
    with CudaSession(context, OPERATOR, Increment(), seed=0) as session:
        found = session.evaluate(Schedule(), PROGRAM, kernel)
    assert found.samples == (pytest.approx(1e-3),) * 10
    assert flushed == [4 * SPEC.l2_bytes] * 10


def test_a_kernel_is_loaded_once_for_all_that_is_verified(evaluate, monkeypatch):
    loaded, inner = [], Loaded.__init__
    monkeypatch.setattr(Loaded, "__init__", lambda self, *of: loaded.append(of[0]) or inner(self, *of))
    another = lambda a: right(a)  # noqa: E731
    found = evaluate(right, another, problem=Increment(in_place=True, exact=True))
    assert [one.status for one in found] == [Status.OK] * 2
    assert loaded.count(another) == 1


class Recorder(BasePruner):
    """Stops all kernels but the first; says how many samples it saw, and the times of kernels that finished before."""

    def __init__(self):
        self.seen = []

    def prune(self, study, trial):
        finished = study.get_trials(states=[TrialState.COMPLETE])
        self.seen.append((len(trial.intermediate_values), [one.values[0] for one in finished]))
        return len(self.seen) > 1


def test_a_kernel_that_is_stopped_early_says_so_and_only_right_ones_race(evaluate):
    def wrong_after_the_samples(a):
        if next(launches) < 2 + 10:
            right(a)

    launches, recorder = count(), Recorder()
    found = evaluate(right, wrong_after_the_samples, right, pruner=recorder)
    assert recorder.seen == [(10, []), (10, [pytest.approx(1e-3)]), (10, [pytest.approx(1e-3)])]
    assert [one.status for one in found] == [Status.OK, Status.WRONG, Status.OK]
    assert [one.conditions for one in found] == [{}, {}, {"stopped_early": True}]


@pytest.mark.parametrize(
    ("idle", "pruner", "samples"),
    [(0.0, None, [10, 1, 1]), (1.0, None, [10, 10, 10]), (0.0, NopPruner(), [10, 10, 10])],
)
def test_a_hopeless_kernel_stops_before_the_warm_up_if_the_clock_is_warm(evaluate, monkeypatch, idle, pruner, samples):
    monkeypatch.setattr(race.Race, "hopeless", lambda _race, _samples: True)
    clock = count(100.0, idle)
    monkeypatch.setattr(cuda_session, "monotonic", lambda: next(clock))
    found = evaluate(right, right, right, pruner=pruner)
    assert [len(one.samples) for one in found] == samples
    assert [one.conditions for one in found] == [{} if one > 1 else {"stopped_early": True} for one in samples]


def write(offset, name="y"):
    """Right, and writes an element of a tensor's buffer, or beside it."""

    def kernel(a):
        right(a)
        elements(getattr(a, name) + 4 * offset)[0] = -1

    return kernel


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (lambda a: None, "y: wrong: 6 of 7 elements, first at [0, 0]: got nan, expected 1.0"),
        (write(5), "y: wrong: 1 of 7 elements, first at [1, 1]: got -1.0, expected 6.0"),
        (write(3), "y: wrong: 1 of 7 elements, first at 3: got -1.0, expected the gap untouched"),
        (write(-1), "wrote outside of y"),
        (write(SIZE), "wrote outside of y"),
        (write(2, "x"), "wrote to the input x or outside of it"),
        (write(2, "workspace"), "wrote outside of workspace"),
    ],
)
def test_a_wrong_kernel_has_no_times_and_harms_no_other(evaluate, wrong, complaint):
    """What the kernel before it left behind is no answer of its own."""
    *_, found, after = evaluate(right, wrong, right, program=WITH_WORKSPACE)
    assert (found.status, found.error, found.samples) == (Status.WRONG, complaint, ())
    assert (after.status, after.error) == (Status.OK, "")


@pytest.mark.parametrize("accumulate", [False, True])
def test_whole_numbers_are_judged_exactly(evaluate, accumulate):
    """0.05 too much, which the tolerance of other numbers allows, where x ends with 12 instead of 6."""

    def kernel(a):
        x = elements(a.x)[INSIDE] + 1
        elements(a.y)[INSIDE] = x + (elements(a.y)[INSIDE] if accumulate else 0)

    def inexact(a):
        kernel(a)
        elements(a.y)[6] += 0.05 if elements(a.x)[6] == 12 else 0

    problem = Increment(accumulate, exact=True)
    found, after = evaluate(inexact, kernel, problem=problem)
    complaint = "with whole numbers: y: wrong: 1 of 7 elements, first at [1, 2]: "
    complaint += "got 133.05, expected 133.0" if accumulate else "got 13.05, expected 13.0"
    assert (found.status, found.error, found.samples) == (Status.WRONG, complaint, ())
    assert (after.status, after.error) == (Status.OK, "")
    assert evaluate(inexact, problem=replace(problem, exact=False))[0].status is Status.OK


def from_launch(number, first, then):
    launches = count()
    return lambda a: (first if next(launches) < number else then)(a)


def test_outputs_are_compared_before_the_samples_and_after_them(evaluate):
    (found,) = evaluate(from_launch(2, write(0), right))
    assert (found.status, found.samples) == (Status.WRONG, ())
    (found,) = evaluate(from_launch(12, right, write(0)))
    assert (found.status, found.samples) == (Status.WRONG, ())
    assert found.error.startswith("right before timing, wrong after it: y: wrong: 1 of 7 elements")


def test_two_launches_must_leave_the_same_bits_unless_the_problem_allows_others(evaluate):
    def close(a):
        right(a)
        elements(a.y)[4] += 0.0625  # within the tolerance

    (found,) = evaluate(from_launch(2, right, close))
    assert found.status is Status.WRONG
    assert found.error.startswith("y: two launches on the same inputs differ")
    (found,) = evaluate(from_launch(2, right, close), problem=Increment(repeatable=False))
    assert found.status is Status.OK


def test_what_equals_the_poison_must_be_written_too(evaluate):
    def numbers(problem, seed):
        return {"x": np.array([0, 1, 2, np.nan, np.nan, 5, 6], np.float32)}

    def skips_nan(a):
        y, x = elements(a.y), elements(a.x)
        for index in INSIDE:
            y[index] = y[index] if np.isnan(x[index]) else x[index] + 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Increment, "inputs", numbers)
        bad, good = evaluate(skips_nan, right)
    assert bad.error == "y: wrong: 1 of 7 elements, first at [1, 0]: got 0.0, expected nan"
    assert (good.status, good.error) == (Status.OK, "")


def test_a_workspace_is_zeroed_once(evaluate):
    seen = []

    def counts(a):
        workspace = (ctypes.c_uint64).from_address(a.workspace)
        seen.append(workspace.value)
        workspace.value += 1
        right(a)

    assert [found.status for found in evaluate(counts, counts, program=WITH_WORKSPACE)] == [Status.OK] * 2
    assert seen == 2 * list(range(14))


def test_what_a_launch_reads_and_writes_is_restored_before_each(evaluate):
    def accumulate(a):
        y = elements(a.y)
        seen.append(y.tolist())
        y[INSIDE] += elements(a.x)[INSIDE] + 1

    seen = []
    (found,) = evaluate(accumulate, problem=Increment(accumulate=True))
    assert (found.status, found.error) == (Status.OK, "")
    assert seen == [(10 * np.arange(SIZE)).tolist()] * 14


def test_an_output_that_may_be_an_input_is_verified_there(evaluate):
    def writes_first(a):
        elements(a.y)[INSIDE] = 0
        right(a)

    bad, good = evaluate(writes_first, right, problem=Increment(in_place=True))
    assert (bad.status, bad.samples) == (Status.WRONG, ())
    assert bad.error.startswith("in place: y: wrong: ")
    assert good.status is Status.OK


def test_a_time_that_cannot_be_true_is_wrong(evaluate):
    (found,) = evaluate(right, problem=Increment(bytes=10**12))
    assert found.status is Status.WRONG
    assert "is above the device's bandwidth" in found.error


def test_what_the_driver_refuses_is_a_status_and_a_lost_context_an_end(monkeypatch):
    context = host_context(monkeypatch, SPEC, reference(False))
    handle = context.handle

    def refused(a):
        raise CUDAError("CUDA_ERROR_INVALID_VALUE: no. Really not.")

    def crashes(a):
        handle.lost = True
        refused(a)

    kernels = [refused, right, crashes]
    with CudaSession(context, OPERATOR, Increment(), seed=0) as session:
        found = [session.evaluate(Schedule(), PROGRAM, kernel) for kernel in kernels]
        assert [one.status for one in found] == [Status.LAUNCH_ERROR, Status.OK, Status.CRASHED]
        assert found[0].error == "CUDA_ERROR_INVALID_VALUE: no"
        with pytest.raises(DeviceError, match="was lost to a kernel that crashed"):
            session.evaluate(Schedule(), PROGRAM, kernels[1])
