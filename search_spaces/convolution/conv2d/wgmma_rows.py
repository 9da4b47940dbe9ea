"""The kernel by wgmma for pixels that are no whole units of 16 bytes, as conv2d knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d.wgmma_rows.emit import PREPARE, emit
from autotune.codegen.convolution.conv2d.wgmma_rows.joined import Joined
from autotune.codegen.convolution.conv2d.wgmma_rows.schedule import WgmmaRowsSchedule
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

from . import wgmma_im2col
from .checks import checks_of_product

_MOST_BYTES = 2**30  # of the copies
_INSTRUCTIONS, _LOADS = 30, 12  # of a unit


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d.wgmma_rows"):
    """What copies of rows take, which begin anywhere in sectors.

    Attributes:
        gathered: clocks of an SM for a row of a box of pixels.
        filters: times as much for a row of filters. If blocks share them, all SMs ask for the same ones less often.
    """

    gathered: float
    filters: float


def constraints(problem: Conv2dProblem, schedule: WgmmaRowsSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the product illegal."""
    if found := list(_joined_violations(problem)):
        yield from found
    else:
        yield from wgmma_im2col.constraints(problem, schedule, spec)


def _joined_violations(problem: Conv2dProblem) -> Iterator[str]:
    """What keeps rows of filters from being one tap each."""
    if problem.dilation_w > 1:
        yield f"dilation_w={problem.dilation_w}: expected 1, as the taps of a row are neighbours"
    if (size := Joined(problem).bytes) > _MOST_BYTES:
        yield f"copies of {size} bytes over {_MOST_BYTES}"


def workload(problem: Conv2dProblem, schedule: WgmmaRowsSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """That of the product, behind one that copies pixels, four units of 16 bytes or less for each thread."""
    joined, blocks = Joined(problem), schedule.prepare_blocks(problem)
    (product,) = wgmma_im2col.workload(problem, schedule, spec)
    costs = Costs.of(spec)
    filters = costs.filters * schedule.block_n / schedule.cluster_m**2
    gathered = costs.gathered * (schedule.block_m + filters)
    product = replace(product, shared_clocks=max(product.shared_clocks, gathered))
    warps = PREPARE.threads / WARP
    unit = min(WIDEST_ACCESS, joined.pixel_channels * problem.dtype.bytes)
    loaded = min(unit, problem.channels * problem.dtype.bytes)
    ahead = Workload(
        blocks=blocks,
        footprint=PREPARE,
        memory_bytes=joined.bytes + problem.work.bytes - product.memory_bytes,
        steps=joined.image_bytes / unit / PREPARE.threads / max(1, blocks),
        instructions=_INSTRUCTIONS * warps,
        load_instructions=_LOADS * warps,
        lines=4 * warps,
        bytes_loaded=loaded * PREPARE.threads,
        bytes_stored=joined.bytes / max(1, blocks),
    )
    return ahead, product


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether channels can be joined, and images do not have whole units of 16 bytes as they are."""
    if wgmma_im2col.applies(problem, spec) or any(_joined_violations(problem)):
        return False
    return wgmma_im2col.applies(problem, spec, WgmmaRowsSchedule)


KERNEL = Kernel(
    WgmmaRowsSchedule,
    emit,
    constraints,
    partial(wgmma_im2col.space, kind=WgmmaRowsSchedule),
    partial(wgmma_im2col.candidates, kind=WgmmaRowsSchedule),
    checks_of_product,
    workload,
    applies,
)
