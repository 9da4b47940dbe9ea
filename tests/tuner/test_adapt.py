"""Adapting measures the few schedules that promise most of many problems, and goes on where it stopped."""

from dataclasses import dataclass, replace

import pytest
from tuner_fakes import SEEDS, TOY, FakePool, ToyDevice, ToyProblem, ToySchedule, space, toy_seconds

from autotune.codegen.model.schedule import Specialize
from autotune.db import Status
from autotune.db.trials import DeviceRecord
from autotune.devices.base import DeviceError, DeviceLostError, Evaluation
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import adapt as adapting
from autotune.tuner.adapt import adapt
from autotune.tuner.known_problems import in_turns

PROBLEMS = [(TOY, ToyProblem(n)) for n in (8, 9, 10)]
WINNER = ToySchedule(width=4, depth=4)
OTHER = replace(TOY, name="other")


@pytest.fixture(autouse=True)
def _pool(pools, monkeypatch):
    monkeypatch.setattr(adapting, "CompilePool", FakePool)


@pytest.fixture
def first(device, db):
    """`adapt` that stops after the dispatcher's candidates of each problem."""

    def call(problems=PROBLEMS, device=device, **options):
        passes = []

        def told(of, result):
            passes.append(of)
            if len(passes) >= len(problems):
                raise KeyboardInterrupt

        return adapt(problems, device, db, on_progress=told, **options)

    return call


def kin(trial, schedule, seconds):
    """The trial as another model of the architecture has it, of another schedule."""
    other = DeviceRecord.of(named_device("h100"))
    fields, samples = schedule.to_dict(), (seconds,)
    return replace(trial, device=other, schedule=fields, schedule_digest=schedule.digest, samples=samples)


def test_what_kin_found_is_measured_beside_what_serves(device, db, first):
    first(PROBLEMS[:1], ToyDevice())
    (trial,) = db.trials("toy")
    db.record(kin(trial, WINNER, 1e-4))
    fresh = ToyDevice()
    result = first(PROBLEMS[:1], fresh)
    (found,) = result.adapted.values()
    assert WINNER in fresh.evaluations
    assert found.best.schedule == WINNER.to_dict()
    assert found.gain == pytest.approx(found.before.seconds / toy_seconds(WINNER))


@dataclass(frozen=True)
class ShapedSchedule(ToySchedule):
    specialize: Specialize = Specialize.NONE


def test_what_serves_is_measured_for_its_shape_alone_and_for_any(device, db, first):
    kernel = replace(
        TOY.kernels[0],
        schedule_type=ShapedSchedule,
        space=lambda problem, spec: replace(space(problem, spec), build=ShapedSchedule.from_dict),
        candidates=lambda problem, spec: [ShapedSchedule()],
    )
    shaped = replace(TOY, kernels=(kernel,), default=lambda problem, spec: ShapedSchedule())
    first([(shaped, ToyProblem(8))], device)
    assert {schedule.specialize for schedule in device.evaluations} == {Specialize.NONE, Specialize.SHAPE}


def test_the_same_call_goes_on_and_measures_nothing_twice(device, db, first):
    stopped = first(PROBLEMS)
    assert (stopped.interrupted, len(stopped.adapted), stopped.left) == (True, 3, 0)
    known = {(trial.problem.key, trial.schedule_digest) for trial in db.trials("toy")}
    again = ToyDevice()
    result = adapt(PROBLEMS, again, db)
    assert not result.interrupted
    more = {(trial.problem.key, trial.schedule_digest) for trial in db.trials("toy")} - known
    assert more
    once = ToyDevice()
    assert len(adapt(PROBLEMS, once, db).known) == 3
    assert once.evaluations == []


def test_no_problem_begins_when_the_time_is_over(device, db):
    result = adapt(PROBLEMS, device, db, seconds=5, now=iter(range(100)).__next__)
    assert 0 < len(result.adapted) < 3
    assert result.left == 3 - len(result.adapted)
    assert db.runs(1)[0].outcome == "done"


def test_close_times_are_measured_twice_in_the_opposite_order(device, db):
    far, *close = SEEDS[1], SEEDS[0], SEEDS[2]
    device.outcome = lambda schedule: Evaluation(Status.OK, (2e-3 if schedule == far else 1e-3,))
    adapt(PROBLEMS[:1], device, db)
    assert device.evaluations == [SEEDS[0], SEEDS[0], far, SEEDS[2], *close[::-1]]
    samples = {trial.schedule_digest: len(trial.samples) for trial in db.trials("toy")}
    assert samples == {far.digest: 1, **{schedule.digest: 2 for schedule in close}}


def test_a_problem_that_cannot_be_set_up_is_skipped_and_a_lost_device_ends_all(device, db, monkeypatch):
    session = device.session

    def refuse(operator, problem, seed):
        if problem == PROBLEMS[1][1]:
            raise error
        return session(operator, problem, seed)

    monkeypatch.setattr(device, "session", refuse, raising=False)
    error = DeviceError("out of memory")
    result = adapt(PROBLEMS, device, db)
    assert result.skipped == {PROBLEMS[1]: "out of memory"}
    assert set(result.adapted) == {PROBLEMS[0], PROBLEMS[2]}
    error = DeviceLostError("gone")
    with pytest.raises(DeviceLostError):
        adapt(PROBLEMS, device, db)


def test_operators_take_turns():
    others = [(OTHER, ToyProblem(1)), (OTHER, ToyProblem(2))]
    assert list(in_turns([*PROBLEMS, *others, PROBLEMS[0]])) == [
        *(PROBLEMS[0], others[0]),
        *(PROBLEMS[1], others[1]),
        PROBLEMS[2],
    ]
