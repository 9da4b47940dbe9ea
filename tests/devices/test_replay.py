"""The replay device serves what was recorded, nothing else, and trusts no file."""

from dataclasses import replace
from pathlib import Path

import pytest
from factories import PROBLEM, SPEC, TRANSPOSE, recording, schedules, trials

from autotune.db import Status
from autotune.db.recording import read_recording, write_recording
from autotune.devices.base import DeviceError
from autotune.devices.recording import load
from autotune.devices.select import device, selected_spec

RECORDINGS = Path(__file__).parents[2] / "benchmarks" / "recordings" / "h200"


@pytest.fixture
def path(tmp_path):
    return recording(tmp_path / "r.jsonl.gz")


def refused(path):
    with pytest.raises(DeviceError) as error:
        device(f"replay:{path}")
    return str(error.value)


def test_it_serves_recorded_times_and_refuses_other_schedules(path):
    replay = device(f"replay:{path}")
    assert replay.spec == selected_spec(f"replay:{path}") == replace(SPEC, name="NVIDIA H200 (replayed)")
    listed = schedules(21)
    with replay.session(TRANSPOSE, PROBLEM, seed=0) as session:
        found = [session.evaluate(schedule, None, None) for schedule in listed]
    assert [evaluation.samples for evaluation in found[:20]] == [trial.samples for trial in trials(listed[:20])]
    assert (found[20].status, found[20].samples) == (Status.ILLEGAL, ())
    assert found[20].error == f"{listed[20]} is not recorded in {path}"


def test_it_says_which_problem_it_records(path):
    with (
        pytest.raises(DeviceError, match=r"records transpose m4096-n4096-e4, not transpose m64-n64-e4$"),
        device(f"replay:{path}").session(TRANSPOSE, TRANSPOSE.problem_type(64, 64), seed=0),
    ):
        pass


def test_failures_are_recorded_too(path):
    good, bad = trials(schedules(2))
    write_recording(path, [good, replace(bad, status=Status.WRONG, samples=(), error="5 wrong")])
    with device(f"replay:{path}").session(TRANSPOSE, PROBLEM, seed=0) as session:
        evaluation = session.evaluate(schedules(2)[1], None, None)
    assert (evaluation.status, evaluation.error) == (Status.WRONG, "5 wrong")
    assert load(path).optimum == good.seconds


def test_a_schedule_that_is_illegal_here_is_left_out(path):
    good, bad = trials(schedules(2))
    crowded = {"tile_m": 512, "tile_n": 16, "rows_per_thread": 32, "pad": 0, "swizzle": False, "min_blocks_per_sm": 8}
    for unlike in ({"tile_m": 1024}, crowded):
        write_recording(path, [good, replace(bad, schedule=bad.schedule | unlike)])
        assert list(load(path).trials) == schedules(1)


def with_limits(trial, **changes):
    return replace(trial, device=replace(trial.device, limits={**trial.device.limits, **changes}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: replace(t, problem=replace(t.problem, operator="nosuch")), "unknown operator 'nosuch'"),
        (lambda t: replace(t, problem=replace(t.problem, fields={"m": 0})), "n"),
        (lambda t: replace(t, samples=(1e-6,)), "GB/s for 134217728 B is above the device's bandwidth"),
        (lambda t: replace(t, schedule={"tile_m": "wide"}), "tile_m='wide' of TransposeSchedule: expected int"),
        (lambda t: replace(t, schedule=t.schedule | {"tile_m": 1024}), "none of the 1 schedules is legal here and ok"),
        (lambda t: replace(t, status=Status.WRONG), "none of the 1 schedules is legal here and ok"),
        (lambda t: with_limits(t, sm_count=0), "sm_count=0 of the device's limits: expected int of at least 1"),
        (lambda t: with_limits(t, clock_hz=1e99), "clock_hz=1e+99 of the device's limits: expected float"),
        (lambda t: with_limits(t, name=3), "name=3 of the device's limits: expected text"),
        (lambda t: with_limits(t, compute_capability=["9", 0]), "compute_capability=['9', 0]: expected two whole"),
        (
            lambda t: with_limits(t, rates={"fp32": 0}),
            "rates={'fp32': 0} of the device's limits: expected whole numbers",
        ),
        (
            lambda t: with_limits(t, rates={"fp64": 2}),
            "rates={'fp64': 2} of the device's limits: expected whole numbers",
        ),
        (lambda t: with_limits(t, more=1), "the device's limits are name, "),
    ],
)
def test_nothing_in_the_file_is_trusted(path, change, message):
    write_recording(path, [change(trials(schedules(1))[0])])
    assert refused(path).startswith(f"{path}: ")
    assert message in refused(path)


def test_a_recording_is_of_one_problem(path):
    other = TRANSPOSE.problem_type(64, 64)
    write_recording(path, [*trials(schedules(2)), *trials(schedules(2, other), other)])
    assert "trials of 2 problems, devices and kinds of time: expected one" in refused(path)
    good, elsewhere = trials(schedules(2))
    write_recording(path, [good, replace(elsewhere, device=replace(elsewhere.device, model="NVIDIA T4"))])
    assert "trials of 2 problems" in refused(path)
    write_recording(path, [])
    assert "trials of 0 problems" in refused(path)


def test_a_recording_made_before_rates_by_unit_still_opens(path):
    (trial,) = trials(schedules(1))
    limits = {name: value for name, value in trial.device.limits.items() if name != "rates"} | {"fp32_lanes": 128}
    write_recording(path, [replace(trial, device=replace(trial.device, limits=limits))])
    assert load(path).spec == SPEC


def test_a_missing_file_is_named(tmp_path):
    assert refused(tmp_path / "no").startswith(f"{tmp_path / 'no'}: No such file or directory; expected a file that")


@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.gz")), ids=lambda path: path.name)
def test_each_recorded_schedule_is_in_the_search_space_of_today(path):
    assert len(load(path).trials) == len(read_recording(path))
