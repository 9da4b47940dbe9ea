"""How to compute a conv2d_input by FFMAs."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.fma.schedule import FmaSchedule


@dataclass(frozen=True)
class FmaInputSchedule(FmaSchedule):
    """The product of each phase by FFMAs, both of whose operands are gathered on their way to shared memory."""
