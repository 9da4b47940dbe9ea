"""Calibrations to store and to print."""

from datetime import UTC, datetime, timedelta

from autotune.search_spaces.machine.calibration import Calibration, Curve, Figure

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def calibration(device="Test GPU", minutes=0, **changes):
    """A calibration with some figures and two curves."""
    values = {
        "figures": {Figure.COPY: 4.2e12, Figure.READ: 4.4e12, Figure.L1_LATENCY: 2e-8, Figure.FP32: 6.5e13},
        "curves": {Curve.STRIDE: ((4, 4e12), (8, 2e12)), Curve.LATENCY: ((16384, 2e-8), (1 << 28, 6.4e-7))},
        "environment": {"uuid": "GPU-1", "driver": "580.159", "compiler": "NVRTC 13.0"},
        "conditions": {"stride": {"sm_mhz": 1980, "celsius": 40}},
        "taken_at": NOON + timedelta(minutes=minutes),
    }
    return Calibration(device, **(values | changes))
