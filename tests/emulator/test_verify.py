"""Verification of a whole problem: outputs right to the last element, gaps untouched."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Work
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import inlined
from autotune.emulator import EmulatorError, verify


@dataclass(frozen=True)
class Doubling(Problem):
    """y = 2 x for rows of 60 in rows of 64."""

    rows: int = 3
    key = "doubling"
    work = Work(0)

    @property
    def tensors(self):
        return (
            Tensor("x", DType.FLOAT32, (self.rows, 60), (64, 1), Role.INPUT, 4),
            Tensor("y", DType.FLOAT32, (self.rows, 60), (64, 1), Role.OUTPUT, 4, Within(absolute=1e-6)),
        )

    def inputs(self, seed):
        return {"x": np.random.default_rng(seed).random(64 * self.rows - 4, np.float32)}

    def reference(self, inputs, scalars):
        return {"y": 2 * inputs["x"].astype(np.float64)}


ARGUMENTS = (Argument("x", "const float*"), Argument("y", "float*"))


def source(statement, blocks=3):
    text = f"""{cuda_arguments(ARGUMENTS)}
extern "C" __global__ void kernel(const Arguments arguments) {{
  const int i = 64 * blockIdx.x + threadIdx.x;
  {statement}
}}
"""
    return Program(text, ARGUMENTS, (Launch("kernel", (blocks, 1, 1), (64, 1, 1)),))


RIGHT = "if (threadIdx.x < 60) arguments.y[i] = 2 * arguments.x[i];"


def test_a_right_kernel():
    assert verify(Doubling(), source(RIGHT)) == 0
    assert 4e-7 < verify(Doubling(), source(RIGHT.replace("];", "] + 5e-7f;"))) < 1e-6


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("[i];", "[i]; else if (i < 64) arguments.y[i] = 0;", r"4 of 188 elements, first at 60: got 0.0, expected the"),
        (
            "x[i]",
            "x[i] + (i < 60 ? 0 * arguments.x[60] : 0)",
            r"60 of 188 elements, first at \[0, 0\]: got nan, expected ",
        ),
        ("< 60", "< 59", r"wrong: 3 of 188 elements, first at \[0, 59\]: got nan, expected .* \(in y\)"),
        ("x[i]", "x[i] + (i == 130 ? 2e-6f : 0)", r"wrong: 1 of 188 elements, first at \[2, 2\]: got "),
    ],
)
def test_a_wrong_kernel(old, new, error):
    with pytest.raises(EmulatorError, match=error):
        verify(Doubling(), source(RIGHT.replace(old, new)))


@dataclass(frozen=True)
class Minus(Problem):
    """y = -1, as integers or as the NaN of its bits, and in place of x if asked for."""

    dtype: DType = DType.INT32
    in_place: str = ""
    key = "minus"
    work = Work(0)

    @property
    def tensors(self):
        return (
            Tensor("x", self.dtype, (64,), (1,), Role.INPUT, 4),
            Tensor("y", self.dtype, (64,), (1,), Role.OUTPUT, 4, in_place=self.in_place),
        )

    def inputs(self, seed):
        return {"x": np.full(64, -1, np.int32).view(self.dtype.numpy)}

    def reference(self, inputs, scalars):
        return {"y": inputs["x"]}


@pytest.mark.parametrize("in_place", ["", "x"])
@pytest.mark.parametrize(("dtype", "expected"), [(DType.INT32, "-1"), (DType.FLOAT32, "nan")])
def test_what_equals_the_poison_must_be_written_too(dtype, expected, in_place):
    verify(Minus(dtype, in_place), source("arguments.y[i] = arguments.x[i];", blocks=1))
    with pytest.raises(EmulatorError, match=rf"first at 5: got 0(\.0)?, expected {expected} \(in y\)"):
        verify(Minus(dtype, in_place), source("if (i != 5) arguments.y[i] = arguments.x[i];", blocks=1))


@dataclass(frozen=True)
class Coarse(Doubling):
    """Random numbers may be off by 1, whole numbers may not."""

    @property
    def tensors(self):
        x, y = super().tensors
        return x, replace(y, judged=Within(absolute=1.0))

    def exact_inputs(self, seed):
        return {"x": np.random.default_rng(seed).integers(1, 4, 64 * self.rows - 4).astype(np.float32)}


def test_whole_numbers_show_what_a_tolerance_hides():
    lost = source(RIGHT.replace("];", "] - (i == 130 ? 0.25f : 0);"))
    assert verify(Coarse(), lost, seeds=(0, 1)) == 0.25
    verify(Coarse(), source(RIGHT))
    with pytest.raises(EmulatorError, match=r"wrong: 1 of 188 elements, first at \[2, 2\]"):
        verify(Coarse(), lost)


def test_a_kernel_that_is_wrong_on_its_second_launch_only():
    arguments = (*ARGUMENTS, Argument("workspace", "int*"))
    right = source(RIGHT)
    used = "[i] + (threadIdx.x == 0 ? arguments.workspace[blockIdx.x] : 0);"
    text = right.source.replace(cuda_arguments(ARGUMENTS), cuda_arguments(arguments)).replace("[i];", used)
    wrong = text.replace(used, used + " if (threadIdx.x == 0) arguments.workspace[blockIdx.x] = 1;")
    verify(Doubling(), Program(text, arguments, right.steps, workspace_bytes=12))
    with pytest.raises(EmulatorError, match="wrong: "):
        verify(Doubling(), Program(wrong, arguments, right.steps, workspace_bytes=12))


@dataclass(frozen=True)
class Rounding(Problem):
    """y = x, rounded to 16 bits."""

    dtype: DType = DType.BFLOAT16
    key = "rounding"
    work = Work(0)

    @property
    def tensors(self):
        return (
            Tensor.flat("x", DType.FLOAT32, 64, Role.INPUT, 4),
            Tensor.flat("y", self.dtype, 64, Role.OUTPUT, 2, Within.rounded(self.dtype)),
        )

    def inputs(self, seed):
        x = np.random.default_rng(seed).standard_normal(64, np.float32)
        x[:3] = np.inf, -np.inf, np.nan
        return {"x": x}

    def reference(self, inputs, scalars):
        return {"y": inputs["x"].astype(np.float64)}


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_numbers_of_16_bits(dtype):
    arguments = (Argument("x", "const float*"), Argument("y", f"{dtype.cuda}*"))

    def rounding(value):
        body = f"arguments.y[threadIdx.x] = from_float<{dtype.cuda}>({value});"
        kernel = f'extern "C" __global__ void kernel(const Arguments arguments) {{ {body} }}'
        text = f"{inlined('cuda/numbers.cuh')}\n{cuda_arguments(arguments)}\n{kernel}\n"
        return Program(text, arguments, (Launch("kernel", (1, 1, 1), (64, 1, 1)),))

    verify(Rounding(dtype), rounding("arguments.x[threadIdx.x]"))
    too_large = f"arguments.x[threadIdx.x] * {1 + 2 * dtype.roundoff}f"
    with pytest.raises(EmulatorError, match=r"wrong: \d+ of 64 elements"):
        verify(Rounding(dtype), rounding(too_large))


@dataclass(frozen=True)
class Sum(Problem):
    """y += the sum of x, one element a block; in any order if it need not be deterministic."""

    size: int = 40
    any_order: bool = False
    key = "sum"
    work = Work(0)

    @property
    def deterministic(self):
        return not self.any_order

    @property
    def tensors(self):
        return (
            Tensor.flat("x", DType.FLOAT32, self.size, Role.INPUT, 4),
            Tensor.flat("y", DType.FLOAT32, 1, Role.IN_OUT, 4, Within(relative=1e-6)),
        )

    def inputs(self, seed):
        random = np.random.default_rng(seed)
        return {"x": random.standard_normal(self.size, np.float32), "y": random.standard_normal(1, np.float32)}

    def reference(self, inputs, scalars):
        terms = np.concatenate([inputs["x"], inputs["y"]]).astype(np.float64)
        return {"y": terms.sum(keepdims=True), "y_scale": np.abs(terms).sum(keepdims=True)}


def test_a_sum_that_depends_on_the_order_of_blocks():
    """It is within its tolerance, of the sum of its terms' absolute values, in any order."""
    unordered = source("if (threadIdx.x == 0) atomicAdd(arguments.y, arguments.x[blockIdx.x]);")
    unordered = replace(unordered, steps=(Launch("kernel", (40, 1, 1), (64, 1, 1)),))
    verify(Sum(any_order=True), unordered)
    differs = r"wrong: 1 of 1 elements differ between two launches on the same inputs, first at 0: .*, then .* \(in y\)"
    with pytest.raises(EmulatorError, match=differs):
        verify(Sum(), unordered)
