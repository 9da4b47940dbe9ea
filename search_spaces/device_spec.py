"""What a device allows and what it can do at best."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property


@dataclass(frozen=True)
class DeviceSpec:
    """The limits and peak rates of one device model.

    Attributes:
        name: the model, as the driver names it (``NVIDIA H200``).
        compute_capability: (major, minor).
        sm_count: streaming multiprocessors (SMs).
        threads_per_block, threads_per_sm, blocks_per_sm: largest counts; a warp has 32 threads.
        registers_per_thread, registers_per_block, registers_per_sm: 32-bit registers.
        register_unit: registers are allocated to a warp in multiples of this.
        shared_per_block: most bytes of shared memory for a block, opted in where the device asks for that.
        shared_per_sm: bytes of shared memory of an SM.
        shared_reserved: bytes that the system takes from each block's share.
        shared_unit: shared memory is allocated in multiples of this many bytes.
        l2_bytes: bytes of level-2 cache.
        clock_hz: boost clock of the SMs.
        fp32_lanes: FP32 fused multiply-adds per SM and clock.
        bandwidth: device memory's bytes per second.
    """

    name: str
    compute_capability: tuple[int, int]
    sm_count: int
    threads_per_block: int
    threads_per_sm: int
    blocks_per_sm: int
    registers_per_thread: int
    registers_per_block: int
    registers_per_sm: int
    register_unit: int
    shared_per_block: int
    shared_per_sm: int
    shared_reserved: int
    shared_unit: int
    l2_bytes: int
    clock_hz: float
    fp32_lanes: int
    bandwidth: float

    @property
    def arch(self) -> str:
        """The compiler's name of the architecture, such as ``sm_90``."""
        major, minor = self.compute_capability
        return f"sm_{major}{minor}"

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits that name these limits: times that were taken under others may not hold."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def peak_flops(self) -> float:
        """FP32 FLOP per second, a fused multiply-add counted as two."""
        return 2 * self.fp32_lanes * self.sm_count * self.clock_hz
