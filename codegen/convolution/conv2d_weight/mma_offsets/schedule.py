"""How to compute a conv2d_weight by mma.sync."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule


@dataclass(frozen=True)
class MmaOffsetsWeightSchedule(MmaOffsetsSchedule):
    """The product by mma.sync, whose rows of B, one for each pixel, are gathered by cp.async."""

    @property
    def gathered_vectors(self) -> int:
        """Of B, in a tile."""
        return self.block_n * self.block_k // self.vector_b
