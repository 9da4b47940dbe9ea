"""What the programs of all kernels of conv2d_weight have in common, and those of kernels without a schedule."""

from __future__ import annotations

from autotune.codegen.convolution.source import source_of
from autotune.codegen.matmul import double_sums
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import KernelSource

from .problem import Conv2dWeightProblem

ENTRY = "conv2d_weight"
GATHERED: dict[str, Constant] = {"gathered_a": True, "gathered_b": True}  # loaders of both operands are this operator's


def source(problem: Conv2dWeightProblem) -> KernelSource:
    """As all kernels see the problem."""
    return source_of(
        problem,
        ENTRY,
        f"D = alpha*gradient by the weight, {problem.dtype}",
        (Argument("alpha", "float"),),
        sizes={"filters": problem.out_channels},
        ldd=problem.product.ldd,
        stride_d=problem.product.stride_d,
    )


def emit_naive(problem: Conv2dWeightProblem) -> Program:
    """A thread for each element of D."""
    return source(problem).plain(", a thread for each element", problem.out_channels * problem.terms)


def emit_reference(problem: Conv2dWeightProblem) -> Program:
    """In double precision: the truth that the others are compared with on a device."""
    launch = double_sums.launch(ENTRY, problem.filters, problem.terms, problem.groups)
    return source(problem).plain(
        ", in double",
        launch.threads * launch.blocks,
        "conv2d_weight_reference(arguments);",
        "reference",
        block=launch.threads,
        shared_bytes=launch.shared_bytes,
        reference=True,
    )
