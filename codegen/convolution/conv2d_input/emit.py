"""What the programs of all kernels of conv2d_input have in common, and those of kernels without a schedule."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.convolution.source import source_of
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import KernelSource

from .problem import Conv2dInputProblem

ENTRY = "conv2d_input"
GATHERED: dict[str, Constant] = {"gathered_a": True, "gathered_b": True}  # loaders of both operands are this operator's


def source(problem: Conv2dInputProblem) -> KernelSource:
    """As all kernels see the problem."""
    product, sides = problem.product, problem.sides
    own = source_of(
        problem,
        ENTRY,
        f"D = alpha*gradient by the images, {problem.dtype}",
        (Argument("alpha", "float"),),
        sizes={
            "filters": problem.out_channels,
            **{f"phase_{name}": side.length for name, side in zip(("height", "width"), sides, strict=True)},
        },
        ldd=problem.layouts["x"].strides[2],
        stride_d=product.stride_d,
    )
    facts: dict[str, Constant] = {"phased": problem.phased, "turned": True}
    for name, side in zip("hw", sides, strict=True):
        facts |= {f"every_{name}": side.every, f"apart_{name}": side.apart, f"lowest_{name}": side.lowest}
        facts[f"fullest_{name}"] = side.seen.index(max(side.seen))
    return replace(own, facts={**own.facts, **facts}, lines={"phase": "int phase = 0;  // of a tile"})


def emit_naive(problem: Conv2dInputProblem) -> Program:
    """A thread for each element of D."""
    call = "conv2d_input_naive<float>(arguments);"
    return source(problem).plain(", a thread for each element", _elements(problem), call)


def emit_reference(problem: Conv2dInputProblem) -> Program:
    """In double precision: the truth that the others are compared with on a device."""
    call = "conv2d_input_naive<double>(arguments);"
    return source(problem).plain(", in double", _elements(problem), call, reference=True)


def _elements(problem: Conv2dInputProblem) -> int:
    return problem.batch * problem.height * problem.width * problem.in_channels
