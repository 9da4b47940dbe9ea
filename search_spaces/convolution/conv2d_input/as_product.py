"""Gradients by images that are products of matrices, which are there already."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem

_POINTERS = {"grad": "a", "weight": "b"}


def as_product(problem: Conv2dInputProblem) -> EquivalentProblem | None:
    """Filters of one tap that see each pixel, as a gemm, or in FP32 as an sgemm; else None."""
    if problem.kernel_size != (1, 1) or problem.phased or problem.padding != (0, 0):
        return None
    a, b, d = problem.align_grad, problem.align_weight, problem.layouts["x"].alignment
    *_, leading = problem.layouts["x"].strides
    if problem.unit is not Unit.FP32:
        gemm = replace(problem.product, ldd=leading, align_a=a, align_b=b, align_d=d)
        return EquivalentProblem("gemm", gemm, _POINTERS | {"d": "d"})
    if leading > INT_MAX:
        return None
    sgemm = replace(problem.sgemm, ldc=leading, align_a=a, align_b=b, align_c=d)
    return EquivalentProblem("sgemm", sgemm, _POINTERS | {"d": "c"})
