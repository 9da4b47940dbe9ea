"""Why a trial's time may no longer hold."""

import pytest
from tuner_fakes import KERNEL, ToyDevice, ToyProblem, ToySchedule

from autotune.codegen.program import generator_digest
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.tuner.provenance import environment, stale

DEVICE = ToyDevice()
PROBLEM, SCHEDULE = ToyProblem(8), ToySchedule()
NOW = {"generator": generator_digest(), "compiler": KERNEL.compiler, "environment": environment(DEVICE)}


def trial(**changes):
    return Trial(
        device=DeviceRecord(DEVICE.limits.name, (9, 0), {}),
        problem=ProblemRecord("toy", PROBLEM.key, PROBLEM.to_dict()),
        schedule=SCHEDULE.to_dict(),
        schedule_digest=SCHEDULE.digest,
        status=Status.OK,
        time_source=TimeSource.MEASURED,
        samples=(1e-3,),
        **NOW | changes,
    )


def test_a_trial_of_now_is_not_stale():
    assert stale(trial(), DEVICE) == stale(trial(), None) == []


@pytest.mark.parametrize(
    ("changes", "reasons", "elsewhere"),
    [
        ({"generator": "old"}, [f"generator old, now {generator_digest()}"], 1),
        ({"compiler": "NVRTC 12.9"}, [f"compiler NVRTC 12.9, now {KERNEL.compiler}"], 1),
        ({"environment": {"driver": "570"}}, ["driver 570, now 580"], 0),
        ({"environment": {"limits": "0"}}, [f"limits 0, now {DEVICE.limits.digest}"], 0),
        ({"environment": {"uuid": "another board"}}, [], 0),
        ({"environment": {}}, [], 0),
    ],
)
def test_what_has_changed_is_named_where_it_is_known(changes, reasons, elsewhere):
    assert stale(trial(**changes), DEVICE) == reasons
    assert len(stale(trial(**changes), None)) == elsewhere
