"""What ptxas says that a kernel uses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Resources:
    """Of a program with several entries, the most that any of them uses.

    Attributes:
        registers: 32-bit registers of a thread.
        shared_bytes: static shared memory of a block.
        stack_bytes: local memory of a thread.
        spill_store_bytes, spill_load_bytes: local-memory traffic of registers that did not fit.
    """

    registers: int
    shared_bytes: int = 0
    stack_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
