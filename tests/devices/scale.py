"""A small operator for tests of devices: y = factor·x on rows with gaps, or y = factor·x + y; or a copy of bits."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import layout
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Exact, Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.source.arguments import cuda_arguments
from autotune.search_spaces.contract.operator import Operator


@dataclass(frozen=True)
class ScaleProblem(Problem):
    """`accumulate` adds to y; `exact` copies uint32 instead."""

    rows: int = 100
    columns: int = 33
    ld: int = 37
    accumulate: bool = False
    exact: bool = False
    alignment: int = 4

    @property
    def key(self):
        return f"scale-{self.rows}x{self.columns}"

    @property
    def work(self):
        return Work(8 * self.rows * self.columns, {Unit.FP32: self.rows * self.columns})

    @property
    def size(self):
        return (self.rows - 1) * self.ld + self.columns

    @property
    def dtype(self):
        return DType.UINT32 if self.exact else DType.FLOAT32

    @property
    def tensors(self):
        role = Role.IN_OUT if self.accumulate else Role.OUTPUT
        judged = Exact() if self.exact else Within(absolute=1e-6)
        shape, strides = (self.rows, self.columns), (self.ld, 1)
        return (
            Tensor("x", self.dtype, shape, strides, Role.INPUT, self.alignment),
            Tensor("y", self.dtype, shape, strides, role, self.alignment, judged),
        )

    @property
    def scalars(self):
        return {"factor": 1.0 if self.exact else 1.5}

    def inputs(self, seed):
        random = np.random.default_rng(seed)
        names = ("x", "y") if self.accumulate else ("x",)
        if self.exact:
            return {name: random.integers(0, 2**32, self.size, np.uint32) for name in names}
        return {name: random.random(self.size, np.float32) for name in names}

    def reference(self, inputs, scalars):
        raise NotImplementedError


@dataclass(frozen=True)
class Claim(ScaleProblem):
    """A problem that says that it has so much to do."""

    claimed_operations: int = layout()
    claimed_bytes: int = layout()

    claimed_unit: Unit = Unit.FP32

    @property
    def work(self):
        return Work(self.claimed_bytes, {self.claimed_unit: self.claimed_operations})


SCALE = "for (int column = threadIdx.x; column < a.columns; column += blockDim.x) { SET }"
SET = "y[column] = a.factor * x[column] PLUS;"


def scale(problem, body="", *, number="float", workspace_bytes=0, shared_bytes=0, threads=64):
    """A kernel with a block for each row; `body` replaces the line that does it right."""
    if problem.exact:
        number = "unsigned"
    arguments = (
        Argument("x", "const unsigned*" if problem.exact else "const float*"),
        Argument("y", f"{number}*"),
        Argument("workspace", "unsigned*"),
        Argument("columns", "int", problem.columns),
        Argument("ld", "int", problem.ld),
        Argument("rows", "int", problem.rows),
        Argument("factor", "float"),
    )
    set_ = "y[column] = x[column];" if problem.exact else SET
    plus = "+ y[column]" if problem.accumulate else ""
    text = f"""{cuda_arguments(arguments)}
extern "C" __global__ void scale(const Arguments a) {{
  extern __shared__ float shared[];
  const auto* x = a.x + blockIdx.x * a.ld;
  auto* y = a.y + blockIdx.x * a.ld;
  const bool last = blockIdx.x == a.rows - 1;
  {(body or SCALE).replace("SCALE", SCALE).replace("SET", set_).replace("PLUS", plus)}
}}
"""
    launch = Launch("scale", (problem.rows, 1, 1), (threads, 1, 1), shared_bytes)
    return Program(text, arguments, (launch,), workspace_bytes)


def _unused(*_):
    raise NotImplementedError


OPERATOR: Operator[Any, Any] = Operator(
    name="scale",
    summary="",
    problem_type=ScaleProblem,
    kernels=(),
    reference=lambda problem: scale(problem, number="double"),
    default=_unused,
    presets={},
)
