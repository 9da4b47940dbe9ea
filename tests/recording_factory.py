"""Recordings of a transpose with times by a formula."""

from dataclasses import asdict

from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.db.recording import write_recording
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.contract.restriction import sample
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
