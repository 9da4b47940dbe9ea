"""How to compute a conv2d by Winograd's minimal filtering."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule


@dataclass(frozen=True)
class WinogradSchedule(SgemmSchedule):
    """Images and filters are transformed, multiplied by sgemm in a batch, and the products transformed to pixels.

    Fields are those of sgemm's schedule.
    """

    kernel = "winograd"

    def footprint(self, problem: SgemmProblem | Conv2dProblem) -> Footprint:
        """That of the products."""
        return super().footprint(problem.transformed if isinstance(problem, Conv2dProblem) else problem)

    def blocks(self, problem: SgemmProblem | Conv2dProblem) -> int:
        """Those of the products."""
        return super().blocks(problem.transformed if isinstance(problem, Conv2dProblem) else problem)


@dataclass(frozen=True)
class OperandsSchedule(Schedule):
    """The launch ahead: a thread for each tile of an image, or filter, and some neighbouring channels."""

    threads = 128

    def blocks(self, problem: Conv2dProblem) -> int:
        """As many as there are threads for."""
        rows = problem.tiles + problem.out_channels
        return ceil_div(rows * problem.in_channels // problem.transform_vector, self.threads)


@dataclass(frozen=True)
class PixelsSchedule(Schedule):
    """The last launch: a thread for each tile of pixels, and some neighbouring filters."""

    threads = 128

    def blocks(self, problem: Conv2dProblem) -> int:
        """As many as there are threads for."""
        return ceil_div(problem.tiles * problem.out_channels // problem.pixel_vector, self.threads)
