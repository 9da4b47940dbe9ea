"""The second operator of the proof: how it is computed and called."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from append_problem import AppendProblem

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.integers import ceil_div, widest_divisor
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.arguments import cuda_arguments, pointer_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.schedule_struct import schedule_struct
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.strides import stride_fields
from autotune.search_spaces.machine.device_spec import DeviceSpec

_FILE = str(Path(__file__).with_name("append.cuh"))


@dataclass(frozen=True)
class AppendSchedule(Schedule):
    """A thread moves a vector.

    Attributes:
        vector: its elements.
        threads: of a block.
    """

    vector: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True)

    def blocks(self, problem: AppendProblem) -> int:
        """As many as have all vectors."""
        return ceil_div(problem.tokens * problem.heads * problem.head_dim, self.vector * self.threads)


def widest(problem: AppendProblem) -> int:
    """Elements of the widest vector."""
    return min(widest_divisor(one.vector_width, problem.head_dim) for one in problem.layouts.values())


def _constraints(problem: AppendProblem, schedule: AppendSchedule, spec: DeviceSpec) -> Iterator[str]:
    if schedule.vector > widest(problem):
        yield f"vector {schedule.vector} over the {widest(problem)} elements that arrays are aligned for"


def emit(problem: AppendProblem, schedule: AppendSchedule) -> Program:
    """One launch, for layouts of any strides."""
    footprint = schedule.footprint(problem)
    strides = dict(pair for one in problem.layouts.values() for pair in zip(one.fields, one.strides, strict=True))
    sizes = {name: getattr(problem, name) for name in ("batch", "sequence", "heads", "head_dim")}
    numbers = (Argument(name, "long long", value) for name, value in (sizes | strides).items())
    members = (*pointer_arguments(problem.tensors), *numbers)
    body = used_source(_FILE, ("append_vector",), schedule.constants)
    entry = footprint.entry("append", "append_vector(arguments);")
    source = "\n\n".join((cuda_arguments(members), schedule_struct(schedule, body), body, entry))
    return Program(source, members, (footprint.launch("append", schedule.blocks(problem)),))


def append(x: Any, slots: Any, cache: Any, *, order: str = "bshd", stream: Any = None) -> None:
    """Tokens of x into slots of a cache.

    Args:
        x: bfloat16, of four axes.
        slots: int32 of shape (batch, sequence), each one another.
        cache: of shape (slots, heads, head_dim), which is updated.
        order: of the axes of x: ``bshd`` or ``bhsd``.
    """


def _types(x: Layout, slots: Layout, cache: Layout, order: str) -> Mapping[str, ArrayType]:
    if sorted(order) != sorted("bshd") or len(x.shape) != len(order):
        raise ValueError(f"x has shape {x.shape} and order={order!r}: expected four axes, bshd or bhsd")
    extents = dict(zip(order, x.shape, strict=True))
    if slots.shape != (extents["b"], extents["s"]) or cache.shape[1:] != (extents["h"], extents["d"]):
        raise ValueError(f"x has shape {x.shape}, slots {slots.shape} and cache {cache.shape}: expected matching ones")
    return {}


def _bind(x: Layout, slots: Layout, cache: Layout, order: str) -> Binding:
    extents = dict(zip(order, x.shape, strict=True))
    where = stride_fields("x", x, "x", AppendProblem.operands["x"], order)
    where |= stride_fields("cache", cache, "cache", AppendProblem.operands["cache"])
    problem = AppendProblem(*(extents[axis] for axis in "bshd"), cache.shape[0], **where)
    return Binding(problem)


CALL = Call(append, ("x", "slots", "cache"), (), _types, _bind, updates=("cache",))


OPERATOR: Operator[AppendProblem, AppendSchedule] = Operator(
    name="append",
    summary="cache[slots] = x",
    problem_type=AppendProblem,
    kernels=(Kernel(AppendSchedule, emit, _constraints),),
    reference=lambda problem: emit(problem, AppendSchedule()),
    presets={},
    call=CALL,
)
