"""Recording measures a list, once, and goes on where it stopped."""

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
