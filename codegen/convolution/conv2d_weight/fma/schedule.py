"""How to compute a conv2d_weight by FFMAs."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.fma.schedule import FmaSchedule


@dataclass(frozen=True)
class FmaWeightSchedule(FmaSchedule):
    """The product by FFMAs, whose rows of B, one for each pixel, are gathered on their way to shared memory."""

    @property
    def gathered_vectors(self) -> int:
        """Of B, in a tile."""
        return self.block_n * self.block_k // self.vector_b
