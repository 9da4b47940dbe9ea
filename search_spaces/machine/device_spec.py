"""What a device allows and what it can do at best."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property

from autotune.codegen.model.work import Unit

# What multiplies on a device without such tensor cores: those of FP16 hold FP8 exactly, FMAs hold the others.
_INSTEAD = {Unit.TENSOR_FP8: Unit.TENSOR_FP16, Unit.TENSOR_BF16: Unit.FP32, Unit.TENSOR_TF32: Unit.FP32}

# What tells models of one architecture apart, for people.
_COMPARED = {
    "bandwidth": "bandwidth",
    "sm_count": "SMs",
    "l2_bytes": "L2",
    "clock_hz": "clock",
    "shared_per_sm": "shared memory",
}


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
        bandwidth: device memory's bytes per second.
        rates: fused multiply-adds per SM and clock, by unit; results for ``special``. A unit without a rate is one that
            the device lacks: `executing` says which does its work.
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
    bandwidth: float
    rates: Mapping[Unit, int] = field(hash=False)

    @property
    def arch(self) -> str:
        """The compiler's name of the architecture, such as ``sm_90``."""
        major, minor = self.compute_capability
        return f"sm_{major}{minor}"

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits that name these limits: times that were taken under others may not hold.

        Of the rates only FP32's counts, under its name in the digests of stored trials.
        """
        figures = asdict(self)
        figures["fp32_lanes"] = figures.pop("rates")[Unit.FP32]
        return hashlib.sha256(json.dumps(figures, sort_keys=True).encode()).hexdigest()[:16]

    def beside(self, other: DeviceSpec) -> str:
        """What this device has more or less of than another one: ``bandwidth 0.70×, L2 0.83×``; empty if nothing."""
        ratios = {text: getattr(self, name) / getattr(other, name) for name, text in _COMPARED.items()}
        return ", ".join(f"{text} {ratio:.2f}×" for text, ratio in ratios.items() if f"{ratio:.2f}" != "1.00")

    def executing(self, unit: Unit) -> Unit:
        """The unit that does a unit's work here: FP8 is multiplied as FP16 before sm_89, BF16 by FMAs before sm_80.

        Raises:
            ValueError: neither the unit nor what takes its place has a rate.
        """
        found: Unit | None = unit
        while found is not None and found not in self.rates:
            found = _INSTEAD.get(found)
        if found is None:
            raise ValueError(f"{self.name} has no rate of {unit.label}: expected one in its device file")
        return found

    def rate(self, unit: Unit) -> int:
        """Multiply-adds, or special functions, per SM and clock of what does a unit's work here."""
        return self.rates[self.executing(unit)]

    def peak(self, unit: Unit) -> float:
        """Operations per second of a unit's work at the boost clock."""
        return unit.operations * self.rate(unit) * self.sm_count * self.clock_hz
