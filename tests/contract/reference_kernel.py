"""Whether the kernel that GPUs verify with agrees with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autotune.codegen.dtype import DType
from autotune.codegen.problem import Problem
from autotune.codegen.tensor import Role, Tensor
from autotune.search_spaces.operator import Operator
from autotune.verification import compare, poisoned

_FROM_FLOAT32_TO_FLOAT64 = 2.0**-29  # the unit roundoff of one over that of the other


def check_reference_kernel(operator: Operator[Any, Any], problem: Problem, run: Callable[..., None]) -> None:
    """Run an operator's reference kernel, and compare its outputs with NumPy's, to float64's accuracy.

    Args:
        operator: the operator.
        problem: a small problem.
        run: takes a source, tensors, arrays and scalars, and leaves the outputs in the arrays, as `emulator.run` does.
    """
    bound = problem.error_bound(problem.scalars)
    tensors = tuple(_widened(tensor) if bound else tensor for tensor in problem.tensors)
    inputs = problem.inputs(1)
    arrays = {t.name: inputs[t.name].astype(t.dtype.numpy) if t.name in inputs else poisoned(t) for t in tensors}
    run(operator.reference(problem), tensors, arrays, problem.scalars)
    for name, expected in problem.reference(inputs, problem.scalars).items():
        found = compare(arrays[name], expected, bound * _FROM_FLOAT32_TO_FLOAT64)
        assert isinstance(found, float), f"{name}: {found}"


def _widened(tensor: Tensor) -> Tensor:
    if tensor.role is Role.INPUT:
        return tensor
    return replace(tensor, dtype=DType.FLOAT64, alignment=max(8, tensor.alignment))
