"""What the programs of all kernels of conv2d have in common, and those of kernels without a schedule."""

from __future__ import annotations

from autotune.codegen.convolution.source import source_of
from autotune.codegen.epilogue import epilogue
from autotune.codegen.matmul import double_sums
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource

from .problem import Conv2dProblem

ENTRY = "conv2d"


def source(problem: Conv2dProblem) -> KernelSource:
    """As all kernels see the problem."""
    served = f"D = {problem.epilogue.formula('conv2d(X, W)', 'C')} of {problem.dtype}"
    own = source_of(problem, ENTRY, served, epilogue.ARGUMENTS, sizes={}, ldd=problem.ldd, stride_d=problem.filters)
    return problem.stated(own)


def emit_naive(problem: Conv2dProblem) -> Program:
    """A thread for each element of D."""
    return source(problem).plain(
        ", a thread for each element", problem.pixels * problem.out_channels, "conv2d_naive(arguments);"
    )


def emit_reference(problem: Conv2dProblem) -> Program:
    """In double precision: the truth that the others are compared with on a device."""
    launch = double_sums.launch(ENTRY, problem.pixels, problem.filters, problem.groups)
    return source(problem).plain(
        ", in double",
        launch.threads * launch.blocks,
        "conv2d_reference(arguments);",
        "reference",
        block=launch.threads,
        shared_bytes=launch.shared_bytes,
        reference=True,
    )
