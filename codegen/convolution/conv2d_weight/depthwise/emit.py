"""The program of a schedule for channels that are groups of their own."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.convolution.conv2d_weight.emit import ENTRY, source
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import Entry

from .schedule import DepthwiseWeightSchedule

SUM = Footprint(128, registers=32)  # of a block of the second launch


def emit(problem: Conv2dWeightProblem, schedule: DepthwiseWeightSchedule) -> Program:
    """The source of a schedule that is legal for the problem: sums of blocks, and their sums."""
    own = source(problem)
    tiles = "of any length" if schedule.ragged(problem) else "of whole tiles"
    partials = Argument("partials", "float*")
    own = replace(own, scalars=(*(own.scalars or ()), partials), served=f"{own.served}, rows {tiles}")
    blocks = ceil_div(problem.in_channels * problem.terms, SUM.threads)
    added = Entry(f"{ENTRY}_sum", "add_partials", blocks, SUM)
    facts = {"ragged": schedule.ragged(problem)}
    program = own.scheduled(schedule, "depthwise/block", "conv2d_weight_block", added, facts=facts)
    return program.in_workspace(partials=schedule.partial_bytes(problem))
