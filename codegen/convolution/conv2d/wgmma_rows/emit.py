"""The program of a schedule by wgmma for pixels that are no whole units of 16 bytes."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.convolution.conv2d.emit import source
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d.wgmma_im2col.emit import Operands, gathered
from autotune.codegen.epilogue import epilogue
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import Entry

from .joined import Joined
from .schedule import WgmmaRowsSchedule

PREPARE = Footprint(256, registers=40)  # of a block of the launch ahead


def emit(problem: Conv2dProblem, schedule: WgmmaRowsSchedule) -> Program:
    """The source of a schedule that is legal for the problem: copies of images and filters, and their product."""
    joined, offset = Joined(problem), schedule.joined_offset(problem)
    step = problem.stride_w * joined.pixel_channels
    line = joined.columns * joined.pixel_channels
    rows = problem.base_pixels
    operands = Operands(
        images=(problem.batch, problem.height, problem.out_width, joined.channels),
        image_strides=(problem.height * line, line, step, 1),
        pixels=replace(rows, lower=(rows.lower[0], 0), upper=(rows.upper[0], 0), steps=(rows.steps[0], 1)),
        filters=(problem.out_channels, problem.kernel_h, joined.channels),
        filter_strides=(problem.kernel_h * joined.filter_row, joined.filter_row, 1),
        tensors=("workspace", "workspace"),
        offsets=(offset, offset + joined.image_bytes),
    )
    facts = {
        # What the product sees: one tap for each row of a filter, and no columns beside images.
        **{"kernel_w": 1, "stride_w": 1, "padding_w": 0},
        **{f"image_{name}_w": getattr(problem, f"{name}_w") for name in ("kernel", "stride", "padding")},
        "joined": True,
        "joined_channels": joined.channels,
        "image_channels": problem.channels,
        "pixel_channels": joined.pixel_channels,
        "pixel_unit": joined.pixel_unit,
        "joined_row": joined.filter_row,
    }
    own = replace(source(problem), scalars=(*epilogue.ARGUMENTS, Argument("copies", "void*")))
    prepare = Entry("conv2d_prepare", "join_rows", schedule.prepare_blocks(problem), PREPARE)
    program = gathered(own, schedule, schedule.product(problem), operands, "wgmma_rows/block", prepare, facts=facts)
    product, ahead = program.launches
    program = replace(program, steps=(ahead, product), workspace_bytes=offset)
    return program.in_workspace(copies=joined.bytes)
