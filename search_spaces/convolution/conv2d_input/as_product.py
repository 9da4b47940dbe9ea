"""Gradients by images that are products of matrices, which are there already."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem

_POINTERS = {"grad": "a", "weight": "b"}


def as_product(problem: Conv2dInputProblem) -> EquivalentProblem | None:
    """Filters of one tap that see each pixel, as a gemm, or in FP32 as an sgemm; else None."""
    if problem.kernel_size != (1, 1) or problem.phased or problem.padding != (0, 0):
        return None
    if problem.unit is not Unit.FP32:
        return EquivalentProblem("gemm", problem.product, _POINTERS | {"d": "d"})
    return EquivalentProblem("sgemm", problem.sgemm, _POINTERS | {"d": "c"})
