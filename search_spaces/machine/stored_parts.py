"""What vectors take that are stored element by element, since they are not aligned where they are written."""

from __future__ import annotations

from autotune.codegen.model.hardware import WORD_BYTES

from .device_spec import DeviceSpec
from .time_model import MachineCosts


def times_stored(stores: int, element_bytes: int, spec: DeviceSpec) -> float:
    """How many times as long L2 takes for vectors of so many stores each as for whole ones.

    All lanes of a warp store their first elements, then all of them their second ones: L2 takes in the same sectors
    each time, and has to read the words of what is narrower.
    """
    costs = MachineCosts.of(spec)
    part = costs.stored_part if element_bytes >= WORD_BYTES else costs.stored_narrow_part
    return 1 + part * (stores - 1)
