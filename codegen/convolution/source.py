"""How all kernels of a convolution see its problem: as a product of each group, and as images."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.matmul.gemm.source_facts import conditions, element_types, facts_of
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.codegen.model.argument import Argument
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import KernelSource

from .problem import ConvolutionProblem


def source_of(
    problem: ConvolutionProblem,
    entry: str,
    served: str,
    scalars: tuple[Argument, ...],
    *,
    sizes: Mapping[str, int],
    ldd: int,
    stride_d: int,
) -> KernelSource:
    """The source of an operator's kernels, whose folder has its name.

    Args:
        problem: what is computed.
        entry: name of the operator.
        served: what D is, for people.
        scalars: what the kernels get besides arrays.
        sizes: what they see beyond the product and the images.
        ldd: elements of D from a row of the product to the next.
        stride_d: likewise from a group to the next.
    """
    product = problem.product
    numbers = {"m": product.m, "n": product.n, "k": product.k, "batch": product.batch, "channels": problem.channels}
    numbers |= {"images": problem.batch, **sizes}
    numbers |= {name: getattr(problem, name) for name in ("height", "width", "out_height", "out_width")}
    wide = {f"stride_x_{axis}": getattr(problem, f"stride_x_{axis}") for axis in "nhw"}
    wide |= {"ldd": ldd, "stride_d": stride_d}
    steps = ", ".join(
        f"{name} {getattr(problem, f'{name}_h')}×{getattr(problem, f'{name}_w')}"
        for name in ("stride", "padding", "dilation")
    )
    return KernelSource(
        entry,
        f"convolution/{entry}",
        problem,
        types=element_types(product),
        facts=facts_of(product),
        conditions={**conditions(product), "turned": False, "volumes": problem.volumes},
        sizes={name: ("int", value) for name, value in numbers.items()}
        | {name: ("long long", value) for name, value in wide.items()},
        workspace=True,
        scalars=scalars,
        served=f"{served}, {'groups, ' if problem.groups > 1 else ''}filters of "
        f"{problem.kernel_h}×{problem.kernel_w}, {steps}",
    )


def fma_facts(product: SgemmProblem, schedule: SgemmSchedule, *, guard_m: bool, guard_n: bool) -> dict[str, Constant]:
    """What sgemm's headers ask of a schedule whose gathered operand ends where images do.

    Args:
        product: the convolution as one.
        schedule: of its kernel.
        guard_m, guard_n: whether rows and columns of D may end within a tile; also for what lies outside of images.
    """
    return {
        "guard_m": guard_m,
        "guard_n": guard_n,
        "guard_k": product.k % schedule.block_k != 0,
        "overlap_last_m": False,
        "overlap_last_n": False,
        "residue_first": False,
        "held_columns": False,
        "clusters": True,
        "lanes_k": schedule.lanes_k,
        "k_partitions": schedule.warps_k * schedule.cluster_k,
        **{f"k_major_{operand}": schedule.k_major(product, operand) for operand in "ab"},
    }
