"""Why a trial's time may no longer hold."""

from dataclasses import asdict
from types import SimpleNamespace

import pytest

from autotune.compiler import compiler_version
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.db.freshness import JUDGE, OTHER_JUDGE, judge
from autotune.devices.select import device as device_of
from autotune.runs.provenance import environment, stale
from autotune.search_spaces.contract.registry import operator

DEVICE = device_of("h200")
TRANSPOSE = operator("transpose")
PROBLEM = TRANSPOSE.problem_type(64, 64)
SCHEDULE = TRANSPOSE.default(PROBLEM, DEVICE.spec)
NOW = {
    "program_digest": TRANSPOSE.program(PROBLEM, SCHEDULE, DEVICE.spec).digest,
    "compiler": compiler_version(),
    "environment": environment(DEVICE),
}


def trial(**changes):
    values = {
        "device": DeviceRecord(DEVICE.spec.name, (9, 0), asdict(DEVICE.spec)),
        "problem": ProblemRecord("transpose", PROBLEM.key, PROBLEM.to_dict()),
        "schedule": SCHEDULE.to_dict(),
        "schedule_digest": SCHEDULE.digest,
        "status": Status.OK,
        "time_source": TimeSource.MODELLED,
        "samples": (1e-3,),
    }
    return Trial(**values | NOW | changes)


def test_a_trial_of_now_is_not_stale():
    assert stale(trial(), DEVICE) == stale(trial(), None) == []


@pytest.mark.parametrize(
    ("changes", "reasons", "elsewhere"),
    [
        ({"program_digest": "0" * 64}, ["unconfirmed: emits another program today"], 1),
        ({"schedule": SCHEDULE.to_dict() | {"tile_m": 0}}, ["emits no program today: "], 1),
        ({"schedule": {"height": 1}}, ["emits no program today: unknown field 'height' of TransposeSchedule"], 1),
        ({"problem": ProblemRecord("nosuch", "n8", {"n": 8})}, ["emits no program today: unknown operator 'nosuch'"],
         1),
        ({"device": DeviceRecord("T", (9, 0), {})}, ["emits no program today: the device's limits are "], 1),
        ({"compiler": "NVRTC 12.9"}, [f"compiler NVRTC 12.9, now {compiler_version()}"], 1),
        ({"environment": {"time model": "guess"}}, ["time model guess, now "], 0),
        ({"environment": {"limits": "0"}}, [f"limits 0, now {DEVICE.spec.digest}"], 0),
        ({"environment": {"uuid": "another board"}}, [], 0),
        ({"environment": {}, "program_digest": "", "compiler": ""}, [], 0),
    ],
)  # fmt: skip
def test_what_has_changed_is_named_where_it_is_known(changes, reasons, elsewhere):
    found = stale(trial(**changes), DEVICE)
    assert len(found) == len(reasons)
    for said, expected in zip(found, reasons, strict=True):
        assert said.startswith(expected)
        assert "\n" not in said
    assert len(stale(trial(**changes), None)) == elsewhere


def test_a_time_depends_on_the_driver_and_not_on_the_board():
    board = SimpleNamespace(environment={"driver": "595", "uuid": "this board"}, spec=DEVICE.spec)
    made_here = trial(environment=environment(board) | {"uuid": "another board"})
    assert stale(made_here, board) == []
    board.environment["driver"] = "600"
    assert stale(made_here, board) == ["driver 595, now 600"]


def test_a_wrong_trial_is_stale_by_what_judged_it():
    def wrong(**environment):
        return trial(status=Status.WRONG, samples=(), environment=NOW["environment"] | environment)

    assert stale(wrong(**{JUDGE: judge(TRANSPOSE, PROBLEM)}), DEVICE) == []
    assert stale(wrong(**{JUDGE: "another"}), DEVICE) == stale(wrong(), DEVICE) == [OTHER_JUDGE]
    assert stale(trial(environment=NOW["environment"] | {JUDGE: "another"}), DEVICE) == []
