"""A toy operator, a device that times it by a formula, and a pool that compiles nothing."""

from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Condition

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.work import Unit, Work
from autotune.compiler import CompiledKernel, compiler_version
from autotune.db import Status, TimeSource
from autotune.devices.base import Evaluation
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.space import Parameter, Space
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class ToyProblem(Problem):
    n: int
    turned: bool = False

    @property
    def key(self):
        return f"n{self.n}{'-turned' * self.turned}"

    work = Work(1 << 20, {Unit.FP32: 1 << 20})
    tensors = ()

    def inputs(self, seed):
        raise NotImplementedError

    reference = inputs


class Order(StrEnum):
    ROW = "row"
    COLUMN = "column"


@dataclass(frozen=True)
class ToySchedule(Schedule):
    """`width` times `depth` may be 16 at most; `depth` 3 and 5 are legal but outside of the search space."""

    width: int = 1
    depth: int = 1
    order: Order = Order.ROW
    unrolled: bool = False

    def footprint(self, problem):
        return Footprint(32)


def violations(problem, schedule, spec):
    area = schedule.width * schedule.depth
    return [f"area {area} over 16"] * (area > 16) + ["turned rows"] * (problem.turned and schedule.order is Order.ROW)


def space(problem, spec):
    parameters = (
        Parameter("width", (1, 2, 4, 8, 16)),
        Parameter("depth", (1, 2, 4)),
        Parameter("order", ("row", "column")),
        Parameter("unrolled", (False, True)),
    )
    return Space(parameters, ToySchedule.from_dict)


def emit(problem, schedule):
    return Program(f'constexpr char toy[] = "{problem} {schedule}";', (), (Launch("toy", (1, 1, 1), (32, 1, 1)),))


SEEDS = [ToySchedule(width=8), ToySchedule(depth=3), ToySchedule(depth=4, order=Order.COLUMN)]

TOY = Operator(
    name="toy",
    summary="",
    problem_type=ToyProblem,
    kernels=(
        Kernel(
            ToySchedule,
            emit,
            violations,
            space,
            lambda problem, spec: [s for s in SEEDS if not violations(problem, s, spec)],
            lambda problem, schedule: [],
            lambda problem, schedule, spec: (Workload(1, Footprint(32), 0),),
        ),
    ),
    reference=lambda problem: emit(problem, "reference"),
    default=lambda problem, spec: SEEDS[0],
    presets={},
)

LEGAL = {
    schedule
    for draw in space(None, None).all_draws()
    if not violations(ToyProblem(8), schedule := ToySchedule.from_dict(draw), None)
}


def toy_seconds(schedule):
    """Fastest at width 4, depth 4, column, unrolled."""
    return 1e-3 * (
        1 + abs(schedule.width - 4) + abs(schedule.depth - 4) + (schedule.order is Order.ROW) + (not schedule.unrolled)
    )


@dataclass
class ToyDevice:
    """Times every schedule by `toy_seconds`; `evaluations` lists what it was asked, `outcome` may say otherwise."""

    selector = "h200"
    spec = named_device("h200")
    time_source: TimeSource = TimeSource.MEASURED
    outcome: object = None
    evaluations: list = field(default_factory=list)
    open_sessions: int = 0

    environment = {"driver": "580"}  # noqa: RUF012

    @contextmanager
    def session(self, operator, problem, seed):
        self.open_sessions += 1
        try:
            yield self
        finally:
            self.open_sessions -= 1

    def evaluate(self, schedule, program, kernel):
        self.evaluations.append(schedule)
        found = self.outcome(schedule) if self.outcome else None
        return found or Evaluation(Status.OK, (toy_seconds(schedule),), max_error=0.25)


class LazyFuture(Future):
    """Is not done until it is waited for."""

    def result(self, timeout=None):
        if not self.done():
            self.set_result(KERNEL)
        return super().result(timeout)


KERNEL = CompiledKernel(b"", Resources(registers=40, spill_load_bytes=8), "sm_90", compiler_version())


class FakePool:
    """Stands for `CompilePool`; `made` lists all pools."""

    made: list = []  # noqa: RUF012
    lazy = False
    refused = staticmethod(lambda program: None)  # or the compiler's error

    def __init__(self, workers):
        self.processes = workers or 2
        self.submitted, self.prepared = [], []
        self.more = Condition()
        self.closed = False
        self.made.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True

    def holds(self, count):
        """Wait until so many were submitted; how many there are then."""
        with self.more:
            self.more.wait_for(lambda: len(self.submitted) >= count, timeout=60)
            return len(self.submitted)

    def prepare(self, program, arch):
        self.prepared.append((program, arch))

    def submit(self, program, arch):
        with self.more:
            self.submitted.append((program, arch))
            self.more.notify_all()
        future = LazyFuture()
        if error := self.refused(program):
            future.set_exception(error)
        elif not self.lazy:
            future.set_result(KERNEL)
        return future


def changed(trial, **changes):
    """The trial with other values."""
    return replace(trial, **changes)
