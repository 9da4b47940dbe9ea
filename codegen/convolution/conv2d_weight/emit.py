"""What the programs of all kernels of conv2d_weight have in common, and those of kernels without a schedule."""

from __future__ import annotations

from autotune.codegen.matmul import double_sums
from autotune.codegen.matmul.gemm.source_facts import conditions, element_types, facts_of
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import KernelSource

from .problem import Conv2dWeightProblem

ENTRY = "conv2d_weight"
GATHERED: dict[str, Constant] = {"gathered_a": True, "gathered_b": True}  # loaders of both operands are this operator's


def source(problem: Conv2dWeightProblem) -> KernelSource:
    """As all kernels see the problem: as a product of each group, and as images."""
    product = problem.product
    sizes = {"m": product.m, "n": product.n, "k": product.k, "batch": product.batch, "channels": problem.channels}
    sizes |= {"images": problem.batch, "filters": problem.out_channels}
    sizes |= {name: getattr(problem, name) for name in ("height", "width", "out_height", "out_width")}
    wide = {f"stride_x_{axis}": getattr(problem, f"stride_x_{axis}") for axis in "nhw"}
    wide |= {"ldd": product.ldd, "stride_d": product.stride_d}
    stride, padding, dilation = (
        f"{getattr(problem, f'{name}_h')}×{getattr(problem, f'{name}_w')}" for name in ("stride", "padding", "dilation")
    )
    return KernelSource(
        ENTRY,
        "convolution/conv2d_weight",
        problem,
        types=element_types(product),
        facts=facts_of(product),
        conditions=conditions(product),
        sizes={name: ("int", value) for name, value in sizes.items()}
        | {name: ("long long", value) for name, value in wide.items()},
        workspace=True,
        scalars=(Argument("alpha", "float"),),
        served=f"D = alpha*gradient by the weight, {problem.dtype}, {'groups, ' if problem.groups > 1 else ''}filters "
        f"of {problem.kernel_h}×{problem.kernel_w}, stride {stride}, padding {padding}, dilation {dilation}",
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
