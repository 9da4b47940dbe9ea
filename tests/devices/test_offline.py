"""The offline device, with a toy operator whose schedule says which mistake to make."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pytest

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.source.arguments import cuda_arguments
from autotune.compiler import CompiledKernel, CompilerKilledError
from autotune.db.states import Status, TimeSource
from autotune.devices import offline
from autotune.devices.base import DeviceError, Evaluation
from autotune.devices.offline import OfflineDevice
from autotune.emulator import EmulatorKilledError
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.time_model import MachineCosts
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Doubling(Problem):
    """y = 2x."""

    n: int

    @property
    def key(self):
        return f"n{self.n}"

    @property
    def work(self):
        return Work(8 * self.n, {Unit.FP32: self.n})

    @property
    def tensors(self):
        return (
            Tensor.flat("x", DType.FLOAT32, self.n, Role.INPUT, 4),
            Tensor.flat("y", DType.FLOAT32, self.n, Role.OUTPUT, 4, Within(absolute=1e-6)),
        )

    def inputs(self, seed):
        return {"x": np.random.default_rng(seed).standard_normal(self.n, np.float32)}

    def reference(self, inputs, scalars):
        return {"y": 2 * inputs["x"].astype(np.float64)}


class Mistake(StrEnum):
    NONE = "none"
    VALUE = "value"
    GUARD = "guard"
    SYNTAX = "syntax"


@dataclass(frozen=True)
class DoublingSchedule(Schedule):
    threads: int = 64
    mistake: Mistake = Mistake.NONE

    def footprint(self, problem):
        return Footprint(self.threads)


def emit(problem, schedule):
    arguments = (Argument("x", "const float*"), Argument("y", "float*"), Argument("n", "int", problem.n))
    factor = "3" if schedule.mistake is Mistake.VALUE else "2"
    guard = "i <= a.n" if schedule.mistake is Mistake.GUARD else "i < a.n"
    end = "" if schedule.mistake is Mistake.SYNTAX else ";"
    text = f"""{cuda_arguments(arguments)}
extern "C" __global__ void doubling(const Arguments a) {{
  const int i = blockIdx.x * {schedule.threads} + threadIdx.x;
  if ({guard}) a.y[i] = {factor} * a.x[i]{end}
}}
"""
    blocks = ceil_div(problem.n, schedule.threads)
    return Program(text, arguments, (Launch("doubling", (blocks, 1, 1), (schedule.threads, 1, 1)),))


def violations(problem, schedule, spec):
    return [] if schedule.threads <= spec.threads_per_block else [f"{schedule.threads} threads"]


def workload(problem, schedule, spec):
    return (Workload(ceil_div(problem.n, schedule.threads), Footprint(schedule.threads), problem.work.bytes),)


def checks(problem, schedule):
    return [(Doubling(2 * schedule.threads), schedule), (Doubling(schedule.threads + 7), schedule)]


def nothing(*arguments):
    raise NotImplementedError


DOUBLING: Operator[Doubling, DoublingSchedule] = Operator(
    name="doubling",
    summary="y = 2x",
    problem_type=Doubling,
    kernels=(Kernel(DoublingSchedule, emit, violations, nothing, lambda problem, spec: [], checks, workload),),
    reference=lambda problem: emit(problem, DoublingSchedule()),
    default=lambda problem, spec: DoublingSchedule(),
    presets={},
)
PROBLEM = Doubling(2**20)


@pytest.fixture
def evaluate():
    """Evaluates a schedule in one session on an offline H200."""
    device = OfflineDevice("h200")
    with device.session(DOUBLING, PROBLEM, seed=0) as session:
        yield lambda schedule, registers=32: evaluated(session, schedule, Resources(registers))


def evaluated(session, schedule, resources):
    kernel = CompiledKernel(b"", resources, "sm_90", "none")
    return session.evaluate(schedule, emit(PROBLEM, schedule), kernel)


@pytest.fixture
def verified(monkeypatch):
    """Every call of the emulator: the problem and the seeds."""
    calls = []

    def verify(problem, program, seeds, capability):
        assert capability == (9, 0)
        calls.append((problem.key, seeds))
        return 0.25 * len(calls)

    monkeypatch.setattr(offline, "verify", verify)
    return calls


def test_a_device_is_what_its_file_says():
    device = OfflineDevice("l40s")
    assert (device.selector, device.spec.name) == ("l40s", "NVIDIA L40S")
    assert device.time_source is TimeSource.MODELLED
    assert all(isinstance(value, str) and value for value in device.environment.values())


def test_an_unknown_device_is_one_line_that_lists_the_known_ones():
    with pytest.raises(DeviceError, match=r"^unknown device 'h300'; known: a100, .*$"):
        OfflineDevice("h300")


def test_a_right_kernel_gets_one_modelled_time(evaluate):
    found = evaluate(DoublingSchedule())
    assert (found.status, found.error, len(found.samples)) == (Status.OK, "", 1)
    assert found.seconds is not None
    assert found.seconds > MachineCosts.of(OfflineDevice("h200").spec).launch_seconds
    assert found.max_error is not None
    assert 0 <= found.max_error <= 1e-6


@pytest.mark.parametrize(
    ("mistake", "status", "problem"),
    [
        (Mistake.VALUE, Status.WRONG, "n128"),
        (Mistake.GUARD, Status.WRONG, "n71"),
        (Mistake.SYNTAX, Status.COMPILE_ERROR, ""),
    ],
)
def test_a_mistake_is_a_status_with_one_line(evaluate, mistake, status, problem):
    found = evaluate(DoublingSchedule(mistake=mistake))
    assert (found.status, found.samples) == (status, ())
    assert found.error
    assert "\n" not in found.error
    assert problem in found.error


@pytest.mark.parametrize("error", [EmulatorKilledError, CompilerKilledError])
def test_a_kernel_is_not_blamed_if_the_emulator_was_killed(evaluate, monkeypatch, error):
    def killed(*_):
        raise error("killed, twice")

    with monkeypatch.context() as full:
        full.setattr(offline, "verify", killed)
        assert evaluate(DoublingSchedule()) == Evaluation(Status.CRASHED, error="killed, twice", killed=True)
    assert evaluate(DoublingSchedule()).status is Status.OK  # emulated again


def test_a_kernel_that_does_not_fit_an_sm_cannot_be_launched(evaluate):
    found = evaluate(DoublingSchedule(threads=1024), 96)
    assert (found.status, found.samples) == (Status.LAUNCH_ERROR, ())
    assert "1024 threads with 96 registers" in found.error


def test_a_text_is_emulated_once_for_each_problem(evaluate, verified):
    first = evaluate(DoublingSchedule(), 32)
    again = evaluate(DoublingSchedule(), 64)
    assert verified == [("n128", (0, 1, 2)), ("n71", (0, 1, 2))]
    assert first.max_error == again.max_error == 0.5
    evaluate(DoublingSchedule(threads=32))
    assert [key for key, _ in verified[2:]] == ["n64", "n39"]


def test_the_seed_reaches_the_emulator(verified):
    with OfflineDevice("h200").session(DOUBLING, PROBLEM, seed=5) as session:
        evaluated(session, DoublingSchedule(), Resources(32))
    assert {seeds for _, seeds in verified} == {(0, 1, 7)}


def test_no_compiler_is_one_line_with_the_remedy(monkeypatch):
    def missing():
        raise offline.HostCompilerMissingError("no C++ compiler: install g++")

    monkeypatch.setattr(offline, "compiler_version", missing)
    with pytest.raises(DeviceError, match="install g\\+\\+"):
        OfflineDevice("h200")
