"""The second operator of the proof: it updates an array, its operands have axes in any order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import size, tunable
from autotune.codegen.model.indices import Indices, Order
from autotune.codegen.model.integers import ceil_div, widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.strided import Axes, StridedProblem
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.work import Work
from autotune.codegen.source.arguments import cuda_arguments, pointer_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.schedule_struct import schedule_struct
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.strides import stride_fields
from autotune.search_spaces.machine.device_spec import DeviceSpec


@dataclass(frozen=True)
class AppendProblem(StridedProblem):
    """cache[slots[b, s]] = x[b, s] for each token, of bfloat16; other slots of the cache stay as they are.

    Attributes:
        batch, sequence: tokens.
        heads, head_dim: of a token.
        slots: of the cache, at least as many as tokens.
    """

    operands = {"x": Axes("bshd", broadcast="b"), "cache": Axes("phd")}  # noqa: RUF012

    batch: int = size(2, short="b")
    sequence: int = size(512, short="s")
    heads: int = size(8, short="h")
    head_dim: int = size(128, least=1, short="d")
    slots: int = size(4096)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """As few tokens as slots, and one of each at least."""
        fitted = super().fitted(fields)
        batch = min(fitted["batch"], fitted["slots"])
        return fitted | {"batch": batch, "sequence": min(fitted["sequence"], fitted["slots"] // max(1, batch))}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokens > self.slots:
            raise ValueError(f"slots={self.slots}: expected {self.tokens} or more, one for each token")

    @property
    def tokens(self) -> int:
        """Of x."""
        return self.batch * self.sequence

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {"b": self.batch, "s": self.sequence, "h": self.heads, "d": self.head_dim, "p": self.slots}

    def dtype_of(self, operand: str) -> DType:
        """That of all."""
        return DType.BFLOAT16

    @property
    def work(self) -> Work:
        """x is read once and stored once, and slots are read."""
        return Work(2 * self.bytes_of("x") + 4 * self.tokens)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """x, slots, and the cache, which is updated."""
        tokens = self.batch, self.sequence
        indices = Indices(self.slots - 1, order=Order.DISTINCT)
        return (
            self.tensor("x", Role.INPUT),
            Tensor("slots", DType.INT32, tokens, (tokens[1], 1), Role.INPUT, 4, indices=indices),
            self.tensor("cache", Role.IN_OUT),
        )

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers; slots by the tensor's indices."""
        random = np.random.default_rng(seed)
        x, slots, cache = self.tensors
        assert slots.indices
        made = {one.name: random.standard_normal(one.size).astype(one.dtype.numpy) for one in (x, cache)}
        return made | {"slots": slots.indices.drawn(random, slots.size, np.int32)}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """All of the cache."""
        x, _, cache = self.tensors
        after = inputs["cache"].copy()
        cache.view(after)[inputs["slots"].reshape(self.batch, self.sequence)] = x.view(inputs["x"])
        return {"cache": after}


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


CALL = Call(append, ("x", "slots", "cache"), (), _bind, _types, updates=("cache",), reordered=("x",))

OPERATOR: Operator[AppendProblem, AppendSchedule] = Operator(
    name="append",
    summary="cache[slots] = x",
    problem_type=AppendProblem,
    kernels=(Kernel(AppendSchedule, emit, _constraints),),
    reference=lambda problem: emit(problem, AppendSchedule()),
    presets={},
    call=CALL,
)
