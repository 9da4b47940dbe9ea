"""How to compute a conv2d_input by mma.sync."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule


@dataclass(frozen=True)
class MmaOffsetsInputSchedule(MmaOffsetsSchedule):
    """The product of each phase by mma.sync, both of whose operands are gathered by cp.async."""
