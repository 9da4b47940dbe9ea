"""Renewing records for several compilers: what is measured, what is taken over, and what is left alone."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tuner_fakes import TOY, FakePool, ToyProblem, ToySchedule, toy_seconds

from autotune.compiler import CompiledKernel, Resources
from autotune.db import Status
from autotune.devices.base import DeviceError, Evaluation

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import renew

LONG_AGO, TOMORROW = (datetime.now(UTC) + timedelta(days=days) for days in (-1000, 1))
PROBLEM, SCHEDULE, OTHER, ILLEGAL = ToyProblem(8), ToySchedule(width=4), ToySchedule(width=2), ToySchedule(16, 2)


def changed(trial):
    return "another" * (trial.program_digest == "0123")


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setattr(renew, "changed_program", changed)  # the toy is not registered


def candidate(compiler, code="a", schedule=SCHEDULE, problem=PROBLEM, found_at=LONG_AGO):
    kernel = CompiledKernel(code.encode(), Resources(registers=40), "sm_90", compiler)
    program = TOY.emit(problem, schedule).digest
    return renew.Candidate("toy", problem, schedule, found_at, program, kernel)


def renewed(device, db, *candidates, seconds=60.0, pool=None):
    problems = dict.fromkeys(one.problem for one in candidates)
    listed = {problem: [one for one in candidates if one.problem == problem] for problem in problems}
    renew.measure_operator(TOY, listed, seconds, device, pool or FakePool(1), db)
    return {(one.compiler, one.schedule_digest): one for one in db.trials("toy")}


def test_the_same_machine_code_is_measured_once_and_says_as_what(device, db):
    found = renewed(device, db, candidate("A"), candidate("B"), candidate("C", "c"), candidate("B", "a", OTHER))
    assert device.evaluations == [SCHEDULE, SCHEDULE, OTHER]
    assert {key: one.environment.get("measured as") for key, one in found.items()} == {
        ("A", SCHEDULE.digest): None,
        ("B", SCHEDULE.digest): "A",
        ("C", SCHEDULE.digest): None,
        ("B", OTHER.digest): None,
    }
    assert all(one.environment["compiler"] == compiler for (compiler, _), one in found.items())
    assert found["B", SCHEDULE.digest].samples == (toy_seconds(SCHEDULE),)


def test_what_was_measured_before_is_taken_over_by_others_and_not_repeated(device, db):
    renewed(device, db, candidate("A"))
    pool = FakePool(1)
    found = renewed(device, db, candidate("A", schedule=OTHER), candidate("A"), candidate("B"), pool=pool)
    assert found.keys() == {("A", SCHEDULE.digest), ("B", SCHEDULE.digest)}
    assert found["B", SCHEDULE.digest].environment["measured as"] == "A"
    renewed(device, db, candidate("B"), candidate("C"))
    assert [one.environment["measured as"] for one in db.trials("toy") if one.compiler == "C"] == ["A"]
    assert (len(device.evaluations), pool.prepared) == (1, [])


def test_a_schedule_that_was_found_later_is_measured_for_all(device, db):
    renewed(device, db, candidate("A"), candidate("B", "b"))
    later = [candidate(name, name, OTHER, found_at=TOMORROW) for name in "AB"]
    found = renewed(device, db, candidate("A"), candidate("B", "b"), *later)
    assert len(found) == 4
    assert device.evaluations == [SCHEDULE, SCHEDULE, OTHER, OTHER]


def test_a_kernel_that_several_files_have_is_stored_once(device, db):
    renewed(device, db, candidate("A"), candidate("A"), candidate("B"), candidate("B"))
    assert sorted(one.compiler for one in db.trials("toy")) == ["A", "B"]


def test_a_schedule_whose_program_has_changed_is_renewed_if_it_is_legal(device, db):
    renewed(device, db, candidate("A"))
    (trial,) = db.trials("toy")
    for schedule in OTHER, ILLEGAL:
        stale = replace(trial, schedule=schedule.to_dict(), schedule_digest=schedule.digest, program_digest="0123")
        db.record(stale)
    listed = {schedule: found_at for _, schedule, found_at, *_ in renew.shipped_schedules(TOY, device.spec.name, db)}
    assert listed == {SCHEDULE: trial.created_at, OTHER: listed[OTHER]}
    assert listed[OTHER] > trial.created_at
    renewed(device, db, candidate("A"), candidate("A", schedule=OTHER, found_at=listed[OTHER]))
    assert device.evaluations == [SCHEDULE, OTHER]
    assert not changed(db.trials("toy", limit=1)[0])


def test_a_kernel_of_another_program_is_left_aside(device, db):
    renewed(device, db, candidate("A"))
    others = replace(candidate("B"), program="0123"), candidate("B", schedule=ILLEGAL)
    assert renewed(device, db, *others).keys() == {("A", SCHEDULE.digest)}


def test_what_another_driver_measured_says_nothing(device, db):
    renewed(device, db, candidate("A"))
    device.environment = {"driver": "590"}
    found = renewed(device, db, candidate("A"), candidate("B"))
    assert len(device.evaluations) == 2
    assert "measured as" not in found["B", SCHEDULE.digest].environment


def test_a_session_is_for_a_problem_and_only_where_something_is_measured(device, db):
    sessions, opened = [], device.session
    device.session = lambda operator, problem, seed: sessions.append(problem) or opened(operator, problem, seed)
    larger = ToyProblem(16)
    pool = FakePool(1)
    candidates = [candidate(name, name, problem=problem) for problem in (PROBLEM, larger) for name in "AB"]
    renewed(device, db, *candidates, pool=pool)
    assert sessions == [PROBLEM, larger]
    assert len(pool.prepared) == 2
    renewed(device, db, *candidates)
    assert len(sessions) == 2


def test_failures_are_stored_and_told_and_a_lost_session_costs_its_problem(device, db, capsys):
    device.outcome = lambda schedule: Evaluation(Status.WRONG, error="off by one") if schedule == OTHER else None
    opened = device.session

    def session(operator, problem, seed):
        if problem != PROBLEM:
            raise DeviceError("no memory")
        return opened(operator, problem, seed)

    device.session = session
    lost = candidate("A", problem=ToyProblem(16))
    found = renewed(device, db, lost, candidate("A", schedule=OTHER), candidate("A"))
    assert {key[1]: one.status for key, one in found.items()} == {
        OTHER.digest: Status.WRONG,
        SCHEDULE.digest: Status.OK,
    }
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["no memory", "toy n8, A: wrong off by one"]
    assert said[2].startswith("toy: 1 of 3 kernels in ")


def test_nothing_is_measured_when_the_time_is_over_and_what_is_known_is_taken_over(device, db):
    other = candidate("B", "b", problem=ToyProblem(16))
    assert renewed(device, db, candidate("A"), other, seconds=-1) == {}
    renewed(device, db, candidate("A"))
    assert len(renewed(device, db, other, candidate("A"), candidate("B"), seconds=-1)) == 2
