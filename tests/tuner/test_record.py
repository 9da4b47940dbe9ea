"""Recording measures a list, once, and goes on where it stopped."""

from dataclasses import replace
from datetime import timedelta

from tuner_fakes import LEGAL, TOY, ToyDevice, ToyProblem

from autotune.tuner.record import record

PROBLEM = ToyProblem(8)
LISTED = sorted(LEGAL, key=str)[:20]


def test_every_listed_schedule_is_measured_once(device, db):
    result, trials = record(TOY, PROBLEM, device, db, LISTED)
    assert (result.evaluated, result.interrupted) == (20, False)
    assert sorted(device.evaluations, key=str) == LISTED
    assert [trial.schedule for trial in trials] == [schedule.to_dict() for schedule in LISTED]


def test_an_interrupted_recording_goes_on(device, db):
    def interrupt(schedule):
        if len(device.evaluations) == 8:
            raise KeyboardInterrupt

    device.outcome = interrupt
    result, trials = record(TOY, PROBLEM, device, db, LISTED)
    assert (result.interrupted, len(trials)) == (True, 7)
    again = ToyDevice()
    result, trials = record(TOY, PROBLEM, again, db, LISTED)
    assert (result.interrupted, result.evaluated, len(trials)) == (False, 13, 20)


def test_trials_of_other_schedules_do_not_get_into_the_list(device, db):
    record(TOY, PROBLEM, device, db, sorted(LEGAL, key=str)[20:30])
    _, trials = record(TOY, PROBLEM, device, db, LISTED)
    assert [trial.schedule for trial in trials] == [schedule.to_dict() for schedule in LISTED]


def test_the_newest_trial_of_a_schedule_counts(device, db):
    record(TOY, PROBLEM, device, db, LISTED[:1])
    (first,) = db.trials()
    db.record(replace(first, program_digest="0" * 64, samples=(1.0,), created_at=first.created_at - timedelta(days=1)))
    _, (found,) = record(TOY, PROBLEM, device, db, LISTED[:1])
    assert found == first


def test_trials_of_another_compiler_do_not_count(device, db):
    record(TOY, PROBLEM, device, db, LISTED[:1])
    (first,) = db.trials()
    db.record(replace(first, compiler="another", created_at=first.created_at + timedelta(days=1)))
    _, (found,) = record(TOY, PROBLEM, device, db, LISTED[:1])
    assert found == first
