"""Convolutions that are products of matrices, which are there already."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem

_POINTERS = {"x": "a", "weight": "b"}


def as_product(problem: Conv2dProblem) -> EquivalentProblem | None:
    """Filters of one tap over pixels that are evenly spaced, or as large as images without gaps, as a gemm, or in FP32
    without an epilogue as an sgemm; else, or with scales of filters, None."""
    leading = _row_of_a(problem)
    if leading is None or problem.scaled:
        return None
    align = problem.layouts["x"].alignment
    if problem.unit is not Unit.FP32:
        gemm = replace(problem.product, lda=leading, ldd=problem.ldd, align_a=align, align_d=problem.align_d)
        more = {"d": "d"} | ({} if problem.bias is Bias.NONE else {"bias": "bias"})
        return EquivalentProblem("gemm", gemm, _POINTERS | more | ({"c": "c"} if problem.residual else {}))
    plain = problem.bias is Bias.NONE and problem.activation is Activation.IDENTITY and not problem.residual
    if not plain or max(leading, problem.ldd) > INT_MAX:
        return None
    sgemm = replace(problem.sgemm, lda=leading, ldc=problem.ldd, align_a=align, align_c=problem.align_d)
    return EquivalentProblem("sgemm", sgemm, _POINTERS | {"d": "c"})


def _row_of_a(problem: Conv2dProblem) -> int | None:
    """Elements from a row of A to the next, where each row lies in X as a whole; None if it does not."""
    kernel, image = (problem.kernel_h, problem.kernel_w), (problem.height, problem.width)
    if problem.groups > 1 or (problem.padding_h, problem.padding_w) != (0, 0):
        return None
    of_image, of_line, of_pixel = problem.layouts["x"].strides
    even = of_line == problem.width * of_pixel
    if kernel == (1, 1) and (problem.stride_h, problem.stride_w) == (1, 1):
        return of_pixel if even and of_image == problem.height * of_line else None
    undilated = (problem.dilation_h, problem.dilation_w) == (1, 1)
    return of_image if kernel == image and even and of_pixel == problem.in_channels and undilated else None
