"""The kernel by wgmma, as conv2d_input knows it: gemm's, whose A is copied in im2col mode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.convolution.conv2d_input.wgmma_im2col.emit import emit
from autotune.codegen.convolution.conv2d_input.wgmma_im2col.schedule import WgmmaInputSchedule
from autotune.codegen.matmul.gemm.wgmma.schedule import ROW_BYTES
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.convolution.conv2d import wgmma_im2col
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemm.wgmma import legal

from .checks import checks
from .phases import in_phases


def constraints(problem: Conv2dInputProblem, schedule: WgmmaInputSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the product illegal."""
    if problem.dtype is DType.FLOAT32:
        yield "wgmma multiplies no float32 that lies across k"
        return
    only = dict(schedule.only(problem))
    if problem.phased and schedule.grid_blocks:
        only["whole_tiles"] = True
    for name, one in only.items():
        if (value := getattr(schedule, name)) != one:
            yield f"{name} {value}: expected {one} of {problem.phases} phases, or of images with gaps"
    yield from wgmma_im2col.constraints(problem, schedule, spec)


def candidates(problem: Conv2dInputProblem, spec: DeviceSpec) -> Iterator[WgmmaInputSchedule]:
    """Those of the product with columns of whole boxes, which are copied anyway, each once: of 64 images of 7² with 512
    channels, tiles of 104 columns took an H200 43.7 µs, and those of 256 took 27.5."""
    box = ROW_BYTES // problem.dtype.bytes
    found = wgmma_im2col.candidates(problem, spec, WgmmaInputSchedule)
    whole = (one.replace(block_n=round_up(one.block_n, box)) if one.block_n > box else one for one in found)
    yield from dict.fromkeys(one for one in whole if not any(legal.constraints(one.product(problem), one, spec)))


def applies(problem: Conv2dInputProblem, spec: DeviceSpec) -> bool:
    """Whether tensor copies gather pixels of the gradient, and wgmma multiplies them."""
    return problem.dtype is not DType.FLOAT32 and wgmma_im2col.applies(problem, spec, WgmmaInputSchedule)


KERNEL = Kernel(
    WgmmaInputSchedule,
    emit,
    constraints,
    partial(wgmma_im2col.space, kind=WgmmaInputSchedule),
    candidates,
    checks,
    in_phases(wgmma_im2col.workload),
    applies,
)
