"""Recordings of a transpose with times by a formula."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.db.recording import write_recording
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.contract.restriction import sample
from autotune.search_spaces.machine.calibration import Calibration, Curve, Figure
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
TRANSPOSE = operator("transpose")
PROBLEM = TRANSPOSE.problem_type(4096, 4096)


def schedules(count, problem=PROBLEM):
    return sample(TRANSPOSE, problem, SPEC, TRANSPOSE.space(problem, SPEC), count, seed=0)


def seconds(schedule):
    """Fastest with large tiles, many rows a thread and few groups."""
    cost = 1 + 64 / schedule.tile_m + 64 / schedule.tile_n + schedule.raster_group / 64 + schedule.pad / 8
    return round(1e-3 * cost, 9)


def trials(listed, problem=PROBLEM):
    device = DeviceRecord(SPEC.name, SPEC.compute_capability, asdict(SPEC) | {"compute_capability": [9, 0]})
    record = ProblemRecord("transpose", problem.key, problem.to_dict())
    return [Trial(device, record, s.to_dict(), s.digest, Status.OK, TimeSource.MEASURED, (seconds(s),)) for s in listed]


def recording(path, count=20, problem=PROBLEM):
    """Write a recording and give its path back."""
    write_recording(path, trials(schedules(count, problem), problem))
    return path


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
