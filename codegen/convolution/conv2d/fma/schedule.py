"""How to compute a conv2d by FFMAs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div

_PIXEL_REGISTERS, _TAP_REGISTERS = 4, 12


@dataclass(frozen=True)
class FmaSchedule(SgemmSchedule):
    """The product by FFMAs, whose rows of A are gathered on their way to shared memory.

    Fields are those of sgemm's schedule. Both operands are copied through registers or by cp.async.
    """

    kernel = "fma"
    cluster_m = cluster_n = 1
    whole_tiles = staged_c = False

    def footprint(self, problem: SgemmProblem | Conv2dProblem) -> Footprint:
        """That of the product, and registers for the pixels that a thread copies."""
        if not isinstance(problem, Conv2dProblem):
            return super().footprint(problem)
        own = super().footprint(problem.sgemm)
        pixels = ceil_div(self.block_m * self.block_k // self.vector_a, self.threads)
        more = _PIXEL_REGISTERS * pixels + _TAP_REGISTERS
        return replace(own, registers=own.registers + more, wanted_registers=own.uncapped_registers + more)

    def blocks(self, problem: SgemmProblem | Conv2dProblem) -> int:
        """Those of the product."""
        return super().blocks(problem.sgemm if isinstance(problem, Conv2dProblem) else problem)
