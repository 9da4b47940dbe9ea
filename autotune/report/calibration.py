"""What a device was measured to do, for a page."""

from __future__ import annotations

from typing import Any

from autotune.search_spaces.machine.calibration import Calibration, Curve, Figure


def calibration_document(found: Calibration, sm_count: int) -> dict[str, Any]:
    """A calibration as JSON values.

    Returns:
        ``taken``: when, and with which driver and compiler. ``figures``: of each ``label``, ``value`` and ``quantity``
        (its unit). ``curves``: of each ``title``, ``quantity`` (of y; x is in bytes), ``points`` and ``law``:
        what a byte in flight on an SM brings per second by Little's law, null where that says nothing.
    """
    told = (f"{name} {found.environment[name]}" for name in ("driver", "compiler") if name in found.environment)
    return {
        "taken": ", ".join([f"{found.taken_at:%Y-%m-%d %H:%M} UTC", *told]),
        "figures": [
            {"label": figure.label, "value": value, "quantity": figure.quantity}
            for figure, value in found.figures.items()
        ],
        "curves": [
            {
                "title": curve.heading,
                "quantity": curve.quantity,
                "points": points,
                "law": _law(found, sm_count) if curve is Curve.IN_FLIGHT else None,
            }
            for curve, points in found.curves.items()
        ],
    }


def _law(found: Calibration, sm_count: int) -> float | None:
    latency = found.figures.get(Figure.MEMORY_LATENCY)
    return sm_count / latency if latency else None
