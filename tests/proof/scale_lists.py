"""The third operator of the proof: it takes lists of arrays whose lengths are known to a call alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, size, tunable
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.lists import element
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.source.arguments import cuda_arguments, pointer_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.schedule_struct import schedule_struct
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.layouts import Layouts, elements
from autotune.search_spaces.contract.operator import Operator

ROOMS = (4, 16)  # most arrays of a list


@dataclass(frozen=True)
class ScaleProblem(Problem):
    """out[i] = alpha · x[i] for lists of rows of different lengths, of float32.

    Attributes:
        longest: elements of the longest row.
        room: rows that kernels take; those that a call has not are empty.
        even: whether all rows are as long as the longest one.
    """

    longest: int = size(4096)
    room: int = kind(ROOMS[0], allowed=ROOMS, short="room")
    even: bool = data(False)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Lengths from none to the longest."""
        last = self.room - 1
        parts = (last if self.even else 3 * number % self.room for number in range(self.room))
        lengths = (self.longest * part // last for part in parts)
        return {"alpha": 0.75} | {element("length", number): length for number, length in enumerate(lengths)}

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """As verification has them."""
        return self.tensors_with(self.scalars)

    def tensors_with(self, scalars: Mapping[str, float]) -> tuple[Tensor, ...]:
        """The rows of x, then those of out."""
        lengths = [scalars[element("length", number)] for number in range(self.room)]
        return tuple(
            Tensor.flat(element(name, number), DType.FLOAT32, length, role, 4)  # type: ignore[arg-type]
            for name, role in (("x", Role.INPUT), ("out", Role.OUTPUT))
            for number, length in enumerate(lengths)
        )

    @property
    def work(self) -> Work:
        """Each row is read once and written once."""
        elements = sum(tensor.size for tensor in self.tensors[: self.room])
        return Work(8 * elements, {Unit.FP32: elements})

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers."""
        random = np.random.default_rng(seed)
        return {one.name: random.standard_normal(one.size).astype(np.float32) for one in self.tensors[: self.room]}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """A product is exact but for one rounding."""
        alpha = np.float32(scalars["alpha"])
        return {element("out", number): alpha * inputs[element("x", number)] for number in range(self.room)}


_FILE = str(Path(__file__).with_name("scale.cuh"))


@dataclass(frozen=True)
class ScaleSchedule(Schedule):
    """A block has a part of one row.

    Attributes:
        threads: of a block.
        items: elements of a thread.
    """

    threads: int = tunable(128, values=(64, 128), power_of_two=True)
    items: int = tunable(2, values=(1, 2, 4))


def _parts(problem: ScaleProblem, schedule: ScaleSchedule) -> int:
    return ceil_div(problem.longest, schedule.threads * schedule.items)


def emit(problem: ScaleProblem, schedule: ScaleSchedule) -> Program:
    """One launch, whose grid is that of the longest row."""
    footprint = schedule.footprint(problem)
    members = (
        *pointer_arguments(problem.tensors),
        *(Argument(element("length", number), "long long") for number in range(problem.room)),
        Argument("alpha", "float"),
    )
    body = used_source(_FILE, ("scale_part",), schedule.constants)
    entry = footprint.entry("scale", "scale_part(arguments);")
    source = "\n\n".join((cuda_arguments(members), schedule_struct(schedule, body), body, entry))
    launch = replace(footprint.launch("scale", 1), grid=(_parts(problem, schedule), problem.room, 1))
    return Program(source, members, (launch,))


def scale(x: Any, *, out: Any = None, alpha: float = 1.0, stream: Any = None) -> Any:
    """alpha · x[i] for each row of a list.

    Args:
        x: float32 arrays of one axis, of any lengths.
        out: as many arrays of the same lengths.
        alpha: the factor.
    """


def _types(x: Layouts) -> Mapping[str, list[ArrayType]]:
    if len(x) > max(ROOMS):
        raise ValueError(f"x has {len(x)} arrays: expected {max(ROOMS)} at most")
    for name, layout in elements(x=x).items():
        if len(layout.shape) != 1 or layout.dtype != "float32":
            raise TypeError(f"{name} has shape {layout.shape} and dtype {layout.dtype}: expected one axis of float32")
    return {"out": [ArrayType(one.shape, one.dtype) for one in x]}


def _bind(x: Layouts, out: Layouts) -> Binding:
    lengths = [one.shape[0] for one in x]
    problem = ScaleProblem(max(lengths), room=next(room for room in ROOMS if room >= len(x)))
    numbers = {element("length", number): length for number, length in enumerate(lengths)}
    return Binding(problem, numbers=numbers)


CALL = Call(scale, ("x",), ("out",), _bind, _types, scalars=("alpha",), lists=("x", "out"))

OPERATOR: Operator[ScaleProblem, ScaleSchedule] = Operator(
    name="scale",
    summary="out[i] = alpha x[i]",
    problem_type=ScaleProblem,
    kernels=(Kernel(ScaleSchedule, emit),),
    reference=lambda problem: emit(problem, ScaleSchedule()),
    presets={},
    call=CALL,
)
