"""What the programs of all kernels of conv2d have in common, and those of kernels without a schedule."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.convolution.source import source_of
from autotune.codegen.epilogue import epilogue
from autotune.codegen.matmul import double_sums
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource

from .problem import Conv2dProblem

ENTRY = "conv2d"
_COLUMN_BYTES = 1 << 26  # of A, that are stored at a time
_SIDE = 16  # of a square of D


def source(problem: Conv2dProblem) -> KernelSource:
    """As all kernels see the problem."""
    convolved = f"{'scales*' if problem.scaled else ''}conv2d(X, W)"
    served = f"D = {problem.epilogue.formula(convolved, 'C')} of {problem.dtype}"
    served += "" if problem.result is problem.dtype else f", D of {problem.result}"
    own = source_of(problem, ENTRY, served, epilogue.ARGUMENTS, sizes={}, ldd=problem.ldd, stride_d=problem.filters)
    return problem.stated(replace(own, conditions={**own.conditions, "scaled_columns": problem.scaled}))


def emit_naive(problem: Conv2dProblem) -> Program:
    """A thread for each element of D."""
    elements = problem.pixels * problem.out_channels
    return source(problem).plain(", a thread for each element", elements, f"conv2d_naive<{_sum(problem)}>(arguments);")


def _sum(problem: Conv2dProblem) -> str:
    """The type of the sums of simple kernels, which hold those of int8 exactly."""
    return "double" if problem.dtype is DType.INT8 else "float"


def emit_im2col(problem: Conv2dProblem) -> Program:
    """A is stored in the workspace, some rows of pixels at a time, and multiplied."""
    product, size = problem.product, problem.dtype.bytes
    width = problem.out_width * problem.groups * product.k * size
    pixels = problem.out_width * max(1, min(problem.pixels // problem.out_width, _COLUMN_BYTES // max(1, width)))
    facts = {"pixels_at_a_time": pixels, "side": _SIDE}
    own = source(problem)
    stated = replace(own, facts={**own.facts, **facts}, scalars=(*(own.scalars or ()), Argument("first_pixel", "int")))
    tiles = ceil_div(pixels, _SIDE) * ceil_div(product.n, _SIDE) * problem.groups
    shared = 2 * _SIDE * (_SIDE + 1) * DType.FLOAT32.bytes
    multiplied = Launch(f"{ENTRY}_multiply", (tiles if problem.pixels else 0, 1, 1), (_SIDE**2, 1, 1), shared)
    elements = pixels * problem.groups * product.k
    program = stated.plain(
        ", rows of A stored",
        elements,
        "conv2d_columns(arguments);",
        "im2col",
        then={multiplied: f"conv2d_product<{_sum(problem)}>(arguments);"},
        workspace_bytes=elements * size,
    )
    steps = [
        launch.taking(first_pixel=first)
        for first in range(0, max(1, problem.pixels), pixels)
        for launch in program.launches
    ]
    return replace(program, steps=tuple(steps), scratch=True)


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
