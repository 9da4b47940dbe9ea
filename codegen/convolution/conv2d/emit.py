"""What the programs of all kernels of conv2d have in common, and those of kernels without a schedule."""

from __future__ import annotations

from autotune.codegen.epilogue import epilogue
from autotune.codegen.matmul import double_sums
from autotune.codegen.matmul.gemm.source_facts import conditions, element_types, facts_of
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource

from .problem import Conv2dProblem

ENTRY = "conv2d"


def source(problem: Conv2dProblem) -> KernelSource:
    """As all kernels see the problem: as a product of each group, and as images."""
    product = problem.product
    sizes = {"m": product.m, "n": product.n, "k": product.k, "batch": product.batch, "channels": problem.channels}
    sizes["images"] = problem.batch
    sizes |= {name: getattr(problem, name) for name in ("height", "width", "out_height", "out_width")}
    wide = {f"stride_x_{axis}": getattr(problem, f"stride_x_{axis}") for axis in "nhw"}
    wide |= {"ldd": problem.ldd, "stride_d": problem.filters}
    formula = problem.epilogue.formula("conv2d(X, W)", "C")
    stride, padding, dilation = (
        f"{getattr(problem, f'{name}_h')}×{getattr(problem, f'{name}_w')}" for name in ("stride", "padding", "dilation")
    )
    return KernelSource(
        ENTRY,
        "convolution/conv2d",
        problem,
        types=element_types(product),
        facts=facts_of(product),
        conditions=conditions(product),
        sizes={name: ("int", value) for name, value in sizes.items()}
        | {name: ("long long", value) for name, value in wide.items()},
        workspace=True,
        scalars=epilogue.ARGUMENTS,
        served=f"D = {formula} of {problem.dtype}, {'groups, ' if problem.groups > 1 else ''}filters of "
        f"{problem.kernel_h}×{problem.kernel_w}, stride {stride}, padding {padding}, dilation {dilation}",
    )


def emit_naive(problem: Conv2dProblem) -> Program:
    """A thread for each element of D."""
    return source(problem).plain(", a thread for each element", problem.pixels * problem.out_channels)


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
