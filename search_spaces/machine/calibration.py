"""What was measured of one device: figures, and curves against stride, alignment, footprint and bytes in flight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from math import isfinite
from reprlib import repr as short
from typing import Any

from autotune.codegen.model.work import Unit

from .device_spec import DeviceSpec

Point = tuple[float, float]


class Quantity(StrEnum):
    """What a number counts, in units without prefixes."""

    BANDWIDTH = "B/s"
    BYTES = "B"
    SECONDS = "s"
    OPERATIONS = "FLOP/s"


class Figure(StrEnum):
    """A number that a calibration measures."""

    COPY = "copy_bandwidth"
    READ = "read_bandwidth"
    WRITE = "write_bandwidth"
    L2 = "l2_bandwidth"
    SHARED = "shared_bandwidth"
    L1_LATENCY = "l1_latency"
    L2_LATENCY = "l2_latency"
    MEMORY_LATENCY = "memory_latency"
    IN_FLIGHT = "bytes_in_flight"
    FP32 = "fp32_peak"
    TENSOR = "tensor_bf16_peak"
    LAUNCH = "launch_seconds"
    LAUNCH_INTERVAL = "launch_interval"

    @property
    def quantity(self) -> Quantity:
        """What it counts."""
        return _FIGURES[self][0]

    @property
    def label(self) -> str:
        """What people read."""
        return _FIGURES[self][1]


_FIGURES: Mapping[Figure, tuple[Quantity, str]] = {
    Figure.COPY: (Quantity.BANDWIDTH, "copy, bytes read and written"),
    Figure.READ: (Quantity.BANDWIDTH, "read"),
    Figure.WRITE: (Quantity.BANDWIDTH, "write"),
    Figure.L2: (Quantity.BANDWIDTH, "read from L2"),
    Figure.SHARED: (Quantity.BANDWIDTH, "read from shared memory, all SMs"),
    Figure.L1_LATENCY: (Quantity.SECONDS, "load from L1"),
    Figure.L2_LATENCY: (Quantity.SECONDS, "load from L2"),
    Figure.MEMORY_LATENCY: (Quantity.SECONDS, "load from device memory"),
    Figure.IN_FLIGHT: (Quantity.BYTES, "in flight on an SM for 95 % of reading"),
    Figure.FP32: (Quantity.OPERATIONS, "FP32 multiply-adds"),
    Figure.TENSOR: (Quantity.OPERATIONS, "BF16 tensor cores by mma.sync"),
    Figure.LAUNCH: (Quantity.SECONDS, "empty kernel between two events"),
    Figure.LAUNCH_INTERVAL: (Quantity.SECONDS, "launch to launch, one host thread"),
}


class Curve(StrEnum):
    """A series of points that a calibration measures, in the order of their first numbers."""

    STRIDE = "stride"
    ALIGNMENT = "alignment"
    SCATTERED = "scattered"
    FOOTPRINT = "footprint"
    LATENCY = "latency"
    IN_FLIGHT = "in_flight"

    @property
    def x(self) -> str:
        """What the first numbers of its points are, in bytes."""
        return _CURVES[self][0]

    @property
    def y(self) -> str:
        """What the second numbers of its points are."""
        return _CURVES[self][2]

    @property
    def heading(self) -> str:
        """What people read above it."""
        return f"{self.y[0].upper()}{self.y[1:]} by {self.x}"

    @property
    def quantity(self) -> Quantity:
        """What the second numbers of its points count."""
        return _CURVES[self][1]


_CURVES: Mapping[Curve, tuple[str, Quantity, str]] = {
    Curve.STRIDE: ("stride of neighbouring threads' 4-byte loads", Quantity.BANDWIDTH, "useful bandwidth"),
    Curve.ALIGNMENT: ("offset of a warp's 128 bytes", Quantity.BANDWIDTH, "useful bandwidth"),
    Curve.SCATTERED: ("size of pieces that are read out of order", Quantity.BANDWIDTH, "useful bandwidth"),
    Curve.FOOTPRINT: ("footprint that is read again and again", Quantity.BANDWIDTH, "bandwidth"),
    Curve.LATENCY: ("footprint of a chain of loads", Quantity.SECONDS, "time of a load"),
    Curve.IN_FLIGHT: ("bytes in flight on an SM", Quantity.BANDWIDTH, "bandwidth"),
}


@dataclass(frozen=True)
class MeasuredPeaks:
    """The peaks of a device where they were measured, and those of its specification where they were not."""

    spec: DeviceSpec
    bandwidth: float
    operations: Mapping[Unit, float] = field(hash=False)

    def executing(self, unit: Unit) -> Unit:
        """The unit that does a unit's work."""
        return self.spec.executing(unit)

    def peak(self, unit: Unit) -> float:
        """Operations per second of a unit's work."""
        return self.operations.get(self.executing(unit)) or self.spec.peak(unit)


@dataclass(frozen=True)
class Calibration:
    """One calibration of one device.

    Attributes:
        device: the model, as the driver names it.
        figures: numbers in units without prefixes; those that the device cannot be asked for are not there.
        curves: points (x, y), by growing x.
        environment: provenance, such as the device's UUID and the versions of driver and compiler.
        conditions: by experiment, the clocks, temperature and so on that NVML told after it.
        taken_at: with a time zone.

    Raises:
        ValueError: a name or a value cannot be one of a calibration; one line.
    """

    device: str
    figures: Mapping[Figure, float] = field(hash=False)
    curves: Mapping[Curve, Sequence[Point]] = field(default_factory=dict, hash=False)
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    taken_at: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))

    def __post_init__(self) -> None:
        for name, value in self.figures.items():
            _check(f"figure {Figure(name)}", value)
        for curve, points in self.curves.items():
            for x, y in points:
                _check(f"curve {Curve(curve)}", y)
                if not (isinstance(x, int | float) and isfinite(x) and x >= 0):
                    raise ValueError(f"curve {curve}: {short(x)}: expected bytes, a number of at least 0")
            if [x for x, _ in points] != sorted({x for x, _ in points}):
                raise ValueError(f"curve {curve}: expected points by growing {Curve(curve).x}")

    def peaks(self, spec: DeviceSpec) -> MeasuredPeaks:
        """The measured peaks: of device memory the most of copying, reading and writing, and of FP32.

        Tensor cores keep the peak of the specification: ``mma.sync`` does not reach it on every device.
        """
        bandwidths = [self.figures[one] for one in (Figure.COPY, Figure.READ, Figure.WRITE) if one in self.figures]
        units = {Unit.FP32: self.figures[Figure.FP32]} if Figure.FP32 in self.figures else {}
        return MeasuredPeaks(spec, max(bandwidths, default=spec.bandwidth), units)

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self) | {"taken_at": self.taken_at.isoformat()}

    @classmethod
    def from_dict(cls, values: Any) -> Calibration:
        """The calibration that JSON values state; nothing of them is trusted.

        Raises:
            ValueError: they state none; one line.
        """
        try:
            return cls(
                device=str(values["device"]),
                figures={Figure(name): value for name, value in values["figures"].items()},
                curves={Curve(name): tuple((x, y) for x, y in points) for name, points in values["curves"].items()},
                environment={str(name): str(value) for name, value in values["environment"].items()},
                conditions={str(name): dict(told) for name, told in values["conditions"].items()},
                taken_at=datetime.fromisoformat(values["taken_at"]).astimezone(UTC),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a calibration: {type(error).__name__}: {error}") from None


def _check(name: str, value: Any) -> None:
    if not (isinstance(value, int | float) and isfinite(value) and value > 0):
        raise ValueError(f"{name}: {short(value)}: expected a number above 0")
