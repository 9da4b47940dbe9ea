"""Several tuners work on one study, in processes of their own, and some of them die."""

import signal
from dataclasses import replace
from math import inf

import pytest
from optuna.trial import TrialState, create_trial
from sqlalchemy import create_engine, text
from tuner_fakes import LEGAL, TOY, ToyDevice, ToyProblem, ToySchedule
from tuner_processes import LARGE_TOY, PROBLEM, run_until_killed, said, started

from autotune.db import DatabaseError, Status, TimeSource, TuningDB
from autotune.db.engine import database_url
from autotune.devices.base import Evaluation
from autotune.search_spaces.devices import named_device
from autotune.tuner import TuneOptions, tune
from autotune.tuner.shared import study_name
from autotune.tuner.shared_study import SharedStudy, outcome_of
from autotune.tuner.study import Outcome

# More evaluations than there are schedules: such a run ends when nothing is left.
ALL = 1000
NAME = study_name("s", TOY, PROBLEM, ToyDevice())
OK = Outcome(Status.OK, 0.5)


@pytest.fixture
def url(postgres):
    """A database whose tables are there."""
    url = postgres.new_database()
    TuningDB(url).close()
    return url


@pytest.fixture
def db(url, pools):
    with TuningDB(url) as database:
        yield database


@pytest.fixture
def silence(url):
    """A function that makes all tuners look dead."""
    engine = create_engine(url)

    def age():
        with engine.begin() as connection:
            connection.execute(text("UPDATE studies.trial_heartbeats SET heartbeat = heartbeat - interval '1 day'"))

    yield age
    engine.dispose()


def join(db, device, trials=ALL):
    """Work on the study in this process."""
    return tune(TOY, PROBLEM, device, db, TuneOptions(trials, sampler="random", compile_workers=4, study="s"))


def states(db):
    """The state of each trial of the study."""
    with SharedStudy(db, NAME) as study:
        return [trial.state.name for trial in study.news()]


def test_of_four_tuners_two_are_killed_and_only_what_they_had_is_tried_again(url, silence):
    moments = (inf, inf, 1, 30_000)
    tuners = [started(run_until_killed, url, ALL, m, seed=seed, study="s") for seed, m in enumerate(moments)]
    heard = [said(*tuner) for tuner in tuners]
    assert [process.exitcode for process, _ in tuners] == [0, 0, -signal.SIGKILL, -signal.SIGKILL]
    stored = [digest for one in heard for digest in one["stored"]]
    lost = {digest for one in heard for digest in one["evaluated"]} - set(stored)
    everything = {
        schedule.digest
        for draw in LARGE_TOY.space(PROBLEM, None).all_draws()
        if not TOY.violations(PROBLEM, schedule := ToySchedule.from_dict(draw), named_device("h200"))
    }
    assert len(stored) == len(set(stored))
    assert 1 <= len(lost) <= 2  # the second may have died between two evaluations

    with TuningDB(url) as db:
        before = {trial.schedule_digest for trial in db.trials("toy")}
    silence()
    last = said(*started(run_until_killed, url, ALL, inf, study="s"))
    assert set(last["stored"]) == everything - before
    assert len(last["stored"]) <= 2 * 2  # each of the dead had taken two, one of which was being compiled
    with TuningDB(url) as db:
        assert sorted(trial.schedule_digest for trial in db.trials("toy")) == sorted(everything)


def test_tuners_of_a_study_share_its_schedules(db, device):
    assert join(db, device, 5).evaluated == 5
    other = ToyDevice()
    assert join(db, other).exhausted
    assert not set(device.evaluations) & set(other.evaluations)
    assert set(device.evaluations) | set(other.evaluations) >= LEGAL
    assert set(states(db)) == {"COMPLETE"}


def test_news_are_what_has_become_of_each_trial_once_whichever_ends_first(db):
    with SharedStudy(db, NAME) as study:
        study.offer({"width": 1})
        study.offer({"width": 2})
        first, second = study.news()
        for trial in (second, first):
            assert study.take(trial)
            study.tell(trial, OK)
            assert [one.number for one in study.news() if one.state is TrialState.COMPLETE] == [trial.number]
        assert study.news() == []


def test_what_others_try_is_told_to_the_sampler(db, device):
    """Another tuner evaluates a schedule while this one runs."""
    best = min(LEGAL, key=str)
    with SharedStudy(db, NAME) as others:
        others.offer(best.to_dict())
        (trial,) = others.news()
        assert others.take(trial)
        join(db, device)
        assert best not in device.evaluations
        others.tell(trial, OK)
        (told,) = [trial for trial in others.news() if trial.user_attrs["schedule"] == best.to_dict()]
        assert outcome_of(told) == OK
    again = ToyDevice()
    assert join(db, again).exhausted
    assert again.evaluations == []


def test_a_tuner_that_is_interrupted_gives_back_what_it_had_taken(db, device):
    def interrupted(schedule):
        if len(device.evaluations) == 3:
            raise KeyboardInterrupt

    device.outcome = interrupted
    assert join(db, device).interrupted
    assert set(states(db)) <= {"COMPLETE", "WAITING"}
    other = ToyDevice()
    join(db, other)
    assert device.evaluations[2] in other.evaluations
    assert not set(device.evaluations[:2]) & set(other.evaluations)  # the database knows them
    assert set(device.evaluations) | set(other.evaluations) >= LEGAL
    assert set(states(db)) == {"COMPLETE"}


def test_a_failure_is_told_as_one(db, device):
    device.outcome = lambda schedule: Evaluation(Status.WRONG, error="off by one")
    join(db, device, 1)
    with SharedStudy(db, NAME) as study:
        (trial,) = study.news()
    assert outcome_of(trial) == (Status.WRONG, None)
    assert trial.values == [inf]


def test_a_tuner_that_slept_and_was_taken_for_dead_goes_on(db, silence):
    with SharedStudy(db, NAME) as slept, SharedStudy(db, NAME) as other:
        slept.offer({"width": 1})
        (trial,) = slept.news()
        assert slept.take(trial)
        silence()
        _, again = other.news()
        assert other.take(again)
        assert not slept.take(again)
        slept.tell(trial, OK)
        other.tell(again, OK)
    assert states(db) == ["FAIL", "COMPLETE"]


def test_two_that_offer_the_same_schedule_have_it_tried_once(db, device):
    schedule = min(LEGAL, key=str)
    with SharedStudy(db, NAME) as others:
        others.offer(schedule.to_dict())
        others.offer(schedule.to_dict())
    join(db, device)
    assert device.evaluations.count(schedule) == 1
    assert sorted(states(db))[-2:] == ["COMPLETE", "FAIL"]


def test_what_is_not_legal_here_is_left_alone(db, device):
    with SharedStudy(db, NAME) as others:
        others.offer({"width": 16, "depth": 16})
        others.offer({"newer": 1})
        others.offer({"width": "wide"})
        for attributes in ({}, {"schedule": 5}):
            others._study.add_trial(create_trial(state=TrialState.WAITING, user_attrs=attributes))
    assert join(db, device).exhausted
    assert set(device.evaluations) >= LEGAL
    assert states(db).count("WAITING") == 5


def test_devices_that_differ_form_different_studies():
    device = ToyDevice()
    others = [
        ToyDevice(time_source=TimeSource.MODELLED),
        changed_device(environment={"driver": "590"}),
        changed_device(limits=replace(device.limits, sm_count=7)),
    ]
    names = [study_name("s", TOY, PROBLEM, one) for one in [device, ToyDevice(), *others]]
    assert names[0] == names[1]
    assert len(set(names)) == 4
    assert study_name("t", TOY, PROBLEM, device) not in names
    assert study_name("s", TOY, ToyProblem(9), device) not in names


def changed_device(**values):
    device = ToyDevice()
    vars(device).update(values)
    return device


def test_a_file_cannot_hold_a_study(tmp_path, device):
    with (
        TuningDB(str(tmp_path / "tuning.sqlite3")) as db,
        pytest.raises(DatabaseError, match="is a file, which hosts cannot share"),
    ):
        join(db, device)


def test_a_user_who_may_make_no_tables_is_told_so(postgres, url, device):
    name = database_url(url).database
    postgres.run(name, f"CREATE USER {name}_writer PASSWORD 's3cret'")
    postgres.run(name, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}_writer")
    with TuningDB(postgres.url(name, username=f"{name}_writer")) as db:
        with pytest.raises(DatabaseError, match="refuses this to its user") as caught:
            join(db, device)
        assert "\n" not in str(caught.value)


def test_tables_of_another_optuna_are_one_line(postgres, db, url, device):
    join(db, device, 1)
    postgres.run(database_url(url).database, "UPDATE studies.alembic_version SET version_num = 'v9.0.0.a'")
    with pytest.raises(DatabaseError, match="is no longer compatible with the table schema") as caught:
        join(db, device, 1)
    assert "\n" not in str(caught.value)


def test_tables_that_are_gone_are_one_line(postgres, db, url):
    with SharedStudy(db, NAME) as study:
        postgres.run(database_url(url).database, "DROP SCHEMA studies CASCADE")
        with pytest.raises(DatabaseError, match=r'relation ".*" does not exist') as caught:
            study.news()
        assert "\n" not in str(caught.value)
