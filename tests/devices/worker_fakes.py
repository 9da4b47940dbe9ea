"""A toy operator whose schedules do harm to the process that evaluates them, and a device that lets them."""

import os
import resource
import signal
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Tensor
from autotune.codegen.model.work import Work
from autotune.compiler import CompiledKernel
from autotune.db.states import Status, TimeSource
from autotune.devices.base import DeviceError, Evaluation
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.contract.space import Parameter, Space
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class FaultyProblem(Problem):
    n: int = 1

    key = "faulty"
    work = Work(0)
    tensors: tuple[Tensor, ...] = ()

    def inputs(self, seed):
        return {}

    def reference(self, inputs, scalars):
        return {}


class Fault(StrEnum):
    NONE = "none"
    SEGFAULT = "segfault"
    KILLED = "killed"
    EXIT = "exit"
    MEMORY = "memory"
    CONTEXT = "context"
    HANG = "hang"
    LOST = "lost"
    BUG = "bug"


@dataclass(frozen=True)
class FaultySchedule(Schedule):
    fault: Fault = Fault.NONE
    number: int = 0

    def footprint(self, problem):
        return Footprint(32)


def emit(problem, schedule):
    return Program(f"// {schedule}", (), (Launch("faulty", (1, 1, 1), (32, 1, 1)),))


FAULTY: Operator[FaultyProblem, FaultySchedule] = Operator(
    name="faulty",
    summary="",
    problem_type=FaultyProblem,
    kernels=(
        Kernel(
            FaultySchedule,
            emit,
            lambda problem, schedule, spec: [],
            lambda problem, spec: Space((Parameter("number", tuple(range(100))),), FaultySchedule.from_dict),
            lambda problem, spec: [FaultySchedule(fault) for fault in (Fault.SEGFAULT, Fault.KILLED, Fault.NONE)],
            lambda problem, schedule: [],
            lambda problem, schedule, spec: (Workload(1, Footprint(32), 0),),
        ),
    ),
    reference=lambda problem: emit(problem, FaultySchedule()),
    default=lambda problem, spec: FaultySchedule(),
    presets={},
)
KERNEL = CompiledKernel(b"", Resources(registers=40), "sm_90", "NVRTC 13.0")


class FaultyDevice:
    """Times everything as 1 ms; its sample says in which process."""

    selector = "faulty"
    spec = named_device("h200")
    time_source = TimeSource.MEASURED
    environment: Mapping[str, str] = {"driver": "580"}
    time_limit = 60.0

    @contextmanager
    def session(self, operator, problem, seed):
        self.setup = (operator.name, problem, seed)
        if problem == FaultyProblem(0):
            raise DeviceError("the problem does not fit")
        if problem == FaultyProblem(-1):
            os.kill(os.getpid(), signal.SIGKILL)
        if problem == FaultyProblem(-2):
            signal.pause()
        yield self

    def evaluate(self, schedule, program, kernel):
        assert (program.source, kernel.arch) == (f"// {schedule}", "sm_90")
        assert self.setup == ("faulty", FaultyProblem(), 7)
        match schedule.fault:
            case Fault.SEGFAULT:
                os.kill(os.getpid(), signal.SIGSEGV)
            case Fault.KILLED:
                os.kill(os.getpid(), signal.SIGKILL)
            case Fault.EXIT:
                os._exit(3)
            case Fault.MEMORY:
                resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))
                bytearray(1 << 40)
            case Fault.CONTEXT:
                return Evaluation(Status.CRASHED, error="CUDA_ERROR_ILLEGAL_ADDRESS")
            case Fault.HANG:
                print("hangs", flush=True)
                signal.pause()
            case Fault.LOST:
                raise DeviceError("the GPU has fallen off the bus")
            case Fault.BUG:
                raise KeyError("bug")
        return Evaluation(Status.OK, (1e-3,), str(os.getpid()))


def faulty_device():
    """What a worker makes; its operator is registered there, too."""
    OPERATORS["faulty"] = FAULTY
    return FaultyDevice()


def no_device():
    raise DeviceError("no driver")


def deadly_device():
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError
