"""Calibrations as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autotune.search_spaces.machine.rates import duration

from .output import print_table

if TYPE_CHECKING:
    from autotune.search_spaces.machine.calibration import Calibration, Figure, Point, Quantity
    from autotune.search_spaces.machine.device_spec import DeviceSpec

_BAR = 40  # characters for the most of a curve


def print_calibration(calibration: Calibration, spec: DeviceSpec) -> None:
    """Print the figures beside those of the datasheet, then a chart of each curve."""
    taken = f"{calibration.taken_at:%Y-%m-%d %H:%M} UTC"
    told = [
        f"{name} {calibration.environment[name]}" for name in ("driver", "compiler") if name in calibration.environment
    ]
    rows = [
        (figure.label, amount(value, figure.quantity), _share(figure, value, spec))
        for figure, value in calibration.figures.items()
    ]
    print_table(f"{calibration.device}, {', '.join([taken, *told])}", ("measured", "", "of datasheet"), rows)
    for curve, points in calibration.curves.items():
        print_table(curve.heading, ("bytes", "", ""), _chart(points, curve.quantity))


def amount(value: float, quantity: Quantity) -> str:
    """A number with the unit that fits: ``4210 GB/s``, ``61.2 TFLOP/s``, ``640 ns``, ``48 KiB``."""
    from autotune.search_spaces.machine.calibration import Quantity

    if quantity is Quantity.BANDWIDTH:
        return f"{value / 1e9:.0f} GB/s" if value >= 1e11 else f"{value / 1e9:.3g} GB/s"
    if quantity is Quantity.OPERATIONS:
        return f"{value / 1e12:.3g} TFLOP/s" if value < 999.5e12 else f"{value / 1e12:.0f} TFLOP/s"
    if quantity is Quantity.SECONDS:
        return duration(value) if value >= 1e-6 else f"{value * 1e9:.3g} ns"
    return size(value)


def size(count: float) -> str:
    """Bytes in the largest binary unit of which they are one at least."""
    for unit, log2 in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << log2:
            return f"{count / (1 << log2):.4g} {unit}"
    return f"{count:.4g} B"


def _share(figure: Figure, value: float, spec: DeviceSpec) -> str:
    from autotune.codegen.model.work import Unit
    from autotune.search_spaces.machine.calibration import Figure

    stated = {Figure.FP32: spec.peak(Unit.FP32), Figure.TENSOR: spec.peak(Unit.TENSOR_BF16)}
    stated |= dict.fromkeys((Figure.COPY, Figure.READ, Figure.WRITE), spec.bandwidth)
    return f"{value / stated[figure]:.1%}" if figure in stated else ""


def _chart(points: Sequence[Point], quantity: Quantity) -> list[tuple[str, str, str]]:
    most = max((y for _, y in points), default=1)
    return [(size(x), amount(y, quantity), "█" * round(_BAR * y / most)) for x, y in points]
