"""Sums of parts of the pixels, which blocks leave to a second launch that adds them up in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import Entry

from .emit import ENTRY, source
from .problem import Conv2dWeightProblem

SUM = Footprint(128, registers=32)  # of a block of the second launch


class PartialSchedule(Schedule):
    """A schedule whose blocks share pixels, which their threads take in tiles.

    Attributes:
        columns: pixels of a tile, side by side.
        splits: blocks that share the pixels of some channels. A second launch adds up what they found.
    """

    columns: int
    splits: int

    def window(self, problem: Conv2dWeightProblem) -> int:
        """Columns that the pixels of a tile see, and those between."""
        return (self.columns - 1) * problem.stride_w + (problem.kernel_w - 1) * problem.dilation_w + 1

    def ragged(self, problem: Conv2dWeightProblem) -> bool:
        """Whether a row of pixels may end within a tile."""
        return problem.out_width % self.columns != 0

    def tiles(self, problem: Conv2dWeightProblem) -> int:
        """Of pixels, of all images."""
        return problem.batch * problem.out_height * ceil_div(problem.out_width, self.columns)

    def partial_bytes(self, problem: Conv2dWeightProblem) -> int:
        """What blocks leave to the second launch."""
        return DType.FLOAT32.bytes * self.splits * problem.out_channels * problem.terms


def emit_in_parts(
    problem: Conv2dWeightProblem, schedule: PartialSchedule, facts: Mapping[str, Constant] | None = None
) -> Program:
    """The program of a kernel whose header is ``block`` in a folder of its name: sums of blocks, and their sums."""
    own = source(problem)
    tiles = "of any length" if schedule.ragged(problem) else "of whole tiles"
    partials = Argument("partials", "float*")
    own = replace(own, scalars=(*(own.scalars or ()), partials), served=f"{own.served}, rows {tiles}")
    blocks = ceil_div(problem.out_channels * problem.terms, SUM.threads)
    added = Entry(f"{ENTRY}_sum", "add_partials", blocks, SUM)
    facts = {"ragged": schedule.ragged(problem), "filter_terms": problem.terms, **(facts or {})}
    program = own.scheduled(schedule, f"{schedule.kernel}/block", "conv2d_weight_block", added, facts=facts)
    return program.in_workspace(partials=schedule.partial_bytes(problem))
