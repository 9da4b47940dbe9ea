"""The operator axpby: z = alpha·x + beta·y, in a package of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import layout, size, tunable
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.source.kernel_source import KernelSource
from autotune.search_spaces.contract.call import Binding, Call
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

_FOLDER = str(Path(__file__).parent)  # of the .cuh files
_ROUNDED = Within.rounded(DType.FLOAT32, absolute=1e-6, relative=2e-7)


@dataclass(frozen=True)
class AxpbyProblem(Problem):
    """z = alpha·x + beta·y.

    Attributes:
        n: elements.
        align_x, align_y, align_z: bytes that the addresses are multiples of.
    """

    n: int = size(1 << 24, most=None)
    align_x: int = layout(16)
    align_y: int = layout(16)
    align_z: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("align_x", "align_y", "align_z"):
            self._check_alignment(name, least=4)

    @property
    def work(self) -> Work:
        """Three operations for each element."""
        return Work(self.tensor_bytes, {Unit.FP32: 3 * self.n})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """x, y and z; z is right within a rounding of each operation, relative to the sizes of both terms."""
        return (
            Tensor.flat("x", DType.FLOAT32, self.n, Role.INPUT, self.align_x),
            Tensor.flat("y", DType.FLOAT32, self.n, Role.INPUT, self.align_y),
            Tensor.flat("z", DType.FLOAT32, self.n, Role.OUTPUT, self.align_z, _ROUNDED),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """To verify and to time with."""
        return {"alpha": 1.5, "beta": -0.5}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Numbers from -1 to 1."""
        random = np.random.default_rng(seed)
        return {name: random.uniform(-1, 1, self.n).astype(np.float32) for name in ("x", "y")}

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Small whole numbers but 0, whose results are exact."""
        random = np.random.default_rng(seed)
        return {name: random.integers(1, 9, self.n).astype(np.float32) for name in ("x", "y")}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """The sum in float64."""
        return {"z": scalars["alpha"] * inputs["x"].astype(np.float64) + scalars["beta"] * inputs["y"]}


@dataclass(frozen=True)
class AxpbySchedule(Schedule):
    """How to compute it.

    Attributes:
        threads: of a block.
        width: elements of an access.
        per_thread: packs of so many elements of a thread.
    """

    threads: int = tunable(128, values=(64, 128, 256, 512), power_of_two=True)
    width: int = tunable(1, values=(1, 2, 4), allowed=(1, 2, 4))
    per_thread: int = tunable(2, values=(1, 2, 4))

    def tile_sizes(self, problem: AxpbyProblem) -> dict[str, int]:
        """Elements of a block."""
        return {"n": self.threads * self.width * self.per_thread}


def constraints(problem: AxpbyProblem, schedule: AxpbySchedule, _spec: DeviceSpec) -> Iterable[str]:
    """Accesses are no wider than all arrays are aligned to."""
    align = min(problem.align_x, problem.align_y, problem.align_z)
    if 4 * schedule.width > align:
        yield f"width {schedule.width} over the {align // 4} elements that all arrays are aligned for"


def emit(problem: AxpbyProblem, schedule: AxpbySchedule) -> Program:
    """The kernel of a schedule: `axpby_block` of axpby.cuh."""
    return KernelSource("axpby", _FOLDER, problem).scheduled(schedule)


def emit_naive(problem: AxpbyProblem) -> Program:
    """The simplest kernel: `axpby_naive` of naive.cuh."""
    return KernelSource("axpby", _FOLDER, problem).plain(", a thread for each element", problem.n)


def emit_reference(problem: AxpbyProblem) -> Program:
    """The same in double precision, by which kernels are verified on a GPU."""
    return KernelSource("axpby", _FOLDER, problem).plain(", the reference", problem.n, reference=True)


def axpby(x: Any, y: Any, *, alpha: float = 1.0, beta: float = 1.0, out: Any = None, stream: Any = None) -> Any:
    """Return alpha·x + beta·y.

    Args:
        x: a vector of float32.
        y: another one of this length.
        alpha: scales x.
        beta: scales y.
        out: the result.
        stream: see below.
    """


def _bind(x: Layout) -> Binding:
    return Binding(AxpbyProblem(x.shape[0]), {"out": "z"})


OPERATOR: Operator[AxpbyProblem, AxpbySchedule] = Operator(
    name="axpby",
    summary="z = alpha·x + beta·y",
    problem_type=AxpbyProblem,
    kernels=(Kernel(AxpbySchedule, emit, constraints),),
    presets={"naive": emit_naive},
    reference=emit_reference,
    call=Call(declaration=axpby, inputs=("x", "y"), outputs=("out",), bind=_bind, scalars=("alpha", "beta")),
)
