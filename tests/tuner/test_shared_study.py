"""Several tuners work on one study, in files and on PostgreSQL, and some of them die."""

import signal
from dataclasses import replace
from math import inf
from types import SimpleNamespace

import pytest
from tuner_fakes import LEGAL, TOY, ToyDevice, ToyProblem, ToySchedule
from tuner_processes import LARGE_TOY, PROBLEM, PROCESS, run_until_killed, said, started

from autotune.db import DatabaseError, DeviceRecord, ProblemRecord, RunRecord, TimeSource, TuningDB, stored_study
from autotune.db.engine import database_url
from autotune.runs.provenance import study_name
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import TuneOptions, tune
from autotune.tuner.search.proposals import Proposals

# More evaluations than there are schedules: such a run ends when nothing is left.
ALL = 1000
ONE, OTHER = sorted(LEGAL, key=str)[:2]


@pytest.fixture
def url(postgres):
    """A PostgreSQL database whose tables are there."""
    return postgres.copied(lambda url: TuningDB(url).close())


@pytest.fixture(params=["file", "postgres"])
def db(request, tmp_path, pools):
    """A database of either kind."""
    url = str(tmp_path / "tuning.sqlite3") if request.param == "file" else request.getfixturevalue("url")
    with TuningDB(url) as database:
        yield database


@pytest.fixture
def others(db):
    """A part in the study of `join` whose run goes on."""
    of = DeviceRecord.of(ToyDevice.spec), ProblemRecord.of("toy", PROBLEM)
    run = RunRecord("", "toy", {}, "random", 0, [])
    with db.running(run), db.study(study_name(TOY, PROBLEM, ToyDevice(), "s"), *of, run.id) as study:
        yield study


def join(db, device, trials=ALL):
    """Work on the study in this process."""
    return tune(TOY, PROBLEM, device, db, TuneOptions(trials, sampler="random", compile_workers=4, study="s"))


def tried(schedule, seconds=0.5):
    """A trial of another tuner."""
    with TuningDB("sqlite://") as other:
        device = ToyDevice(outcome=None)
        listed = TOY.with_kernels(candidates=lambda *_: [schedule], space=lambda *_: Space((), lambda draw: schedule))
        tune(listed, PROBLEM, device, other, TuneOptions(1, sampler="random"))
        return replace(other.trials()[0], samples=(seconds,), run=None)


def test_of_four_tuners_two_are_killed_and_only_what_they_had_is_tried_again(url):
    dead = PROCESS.Event()
    moments = ((1, None), (30_000, None), (inf, dead), (inf, dead))
    tuners = [
        started(run_until_killed, url, ALL, calls, others_dead=others_dead, seed=seed, study="s")
        for seed, (calls, others_dead) in enumerate(moments)
    ]
    heard = [said(*tuner) for tuner in tuners[:2]]
    dead.set()
    heard += [said(*tuner) for tuner in tuners[2:]]
    assert [process.exitcode for process, _ in tuners] == [-signal.SIGKILL, -signal.SIGKILL, 0, 0]
    stored = [digest for one in heard for digest in one["stored"]]
    everything = {
        schedule.digest
        for draw in LARGE_TOY.space(PROBLEM, None).all_draws()
        if not TOY.violations(PROBLEM, schedule := ToySchedule.from_dict(draw), named_device("h200"))
    }
    assert len(stored) == len(set(stored))
    with TuningDB(url) as db:
        before = {trial.schedule_digest for trial in db.trials("toy")}
    last = said(*started(run_until_killed, url, ALL, inf, study="s"))
    assert set(last["stored"]) == everything - before, "what they left when the others had nothing else to do"
    with TuningDB(url) as db:
        assert sorted(trial.schedule_digest for trial in db.trials("toy")) == sorted(everything)


def test_tuners_of_a_study_share_its_schedules(db, device):
    assert join(db, device, 5).evaluated == 5
    other = ToyDevice()
    assert join(db, other).exhausted
    assert not set(device.evaluations) & set(other.evaluations)
    assert set(device.evaluations) | set(other.evaluations) >= LEGAL


def test_what_another_tries_and_finds_out_is_told_to_the_sampler(db, device, others, monkeypatch):
    told, tell_sampler = {}, Proposals.tell

    def noted(proposals, schedule, seconds):
        told[schedule] = seconds
        tell_sampler(proposals, schedule, seconds)

    def end(schedule):
        if len(device.evaluations) == 5:
            others.end(tried(ONE, 1e-9))

    monkeypatch.setattr(Proposals, "tell", noted)
    assert others.claim(ONE) and others.claim(OTHER)
    device.outcome = end
    result = join(db, device)
    assert not {ONE, OTHER} & set(device.evaluations)
    assert told[ONE] == result.best.seconds == 1e-9
    others.give_back()
    again = ToyDevice()
    assert join(db, again).exhausted
    assert again.evaluations == [OTHER]


def test_what_a_hung_tuner_left_is_tried_by_one_that_is_at_work(db, device, others, monkeypatch):
    monkeypatch.setattr(stored_study, "_LOOK", 0.0)
    assert others.claim(ONE)
    late = others._now() + 2 * stored_study.LEASE
    device.outcome = lambda _: (
        len(device.evaluations) == 5 and monkeypatch.setattr(stored_study.StoredStudy, "_now", lambda _: late)
    )
    join(db, device)
    assert device.evaluations.count(ONE) == 1
    assert others.end(tried(ONE)) == len(device.evaluations), "it wakes up"
    assert len(db.trials()) == len(device.evaluations)


def test_a_run_that_is_interrupted_gives_back_what_it_had_claimed(db, device):
    def interrupted(schedule):
        if len(device.evaluations) == 3:
            raise KeyboardInterrupt

    device.outcome = interrupted
    assert join(db, device).interrupted
    assert [run.state for run in db.runs()] == ["interrupted"]
    other = ToyDevice()
    join(db, other)
    assert device.evaluations[2] in other.evaluations[:9], "what others began comes first"
    assert not set(device.evaluations[:2]) & set(other.evaluations)  # the database knows them
    assert set(device.evaluations) | set(other.evaluations) >= LEGAL


def test_a_schedule_is_taken_that_was_given_up_but_not_what_another_tries_or_what_is_known(db, device, others):
    of = DeviceRecord.of(device.spec), ProblemRecord.of("toy", PROBLEM)
    with db.study(study_name(TOY, PROBLEM, device, "s"), *of, others._run) as study:
        own = Proposals(TOY, PROBLEM, device.spec, "random", 0, [ONE], {}, study)
        assert others.claim(OTHER)
        assert next(own) == ONE
        assert own.take(ONE)
        assert not own.take(OTHER)
        study.end(tried(ONE))
        assert not own.take(ONE)


def test_what_is_known_is_not_tried_again_when_another_gives_it_back(db, device, others):
    of = DeviceRecord.of(device.spec), ProblemRecord.of("toy", PROBLEM)
    with db.study(study_name(TOY, PROBLEM, device, "s"), *of, others._run) as study:
        assert others.claim(OTHER)
        others.give_back()
        own = Proposals(TOY, PROBLEM, device.spec, "random", 0, [ONE], {OTHER: 1e-9}, study)
        assert next(own) == ONE


def test_what_is_not_legal_here_is_left_alone(db, device, others):
    for fields in ({"width": 16, "depth": 16}, {"newer": 1}, {}):
        assert others.claim(SimpleNamespace(digest=str(fields), to_dict=lambda fields=fields: fields))
    others.give_back()
    assert join(db, device).exhausted
    assert set(device.evaluations) >= LEGAL


def test_devices_that_differ_form_different_studies():
    device = ToyDevice()
    differing = [
        ToyDevice(time_source=TimeSource.MODELLED),
        changed_device(environment={"driver": "590"}),
        changed_device(spec=replace(device.spec, sm_count=7)),
    ]
    names = [study_name(TOY, PROBLEM, one) for one in [device, ToyDevice(), *differing]]
    assert names[0] == names[1]
    assert len(set(names)) == 4
    assert study_name(TOY, PROBLEM, device, "t") not in names
    assert ToyProblem(9).key != PROBLEM.key, "studies have names in their problem"


def changed_device(**values):
    device = ToyDevice()
    for name, value in values.items():
        setattr(device, name, value)
    return device


def test_a_user_who_may_not_write_is_told_so(postgres, url, device):
    name = database_url(url).database
    postgres.run(name, f"CREATE USER {name}_reader PASSWORD 's3cret'")
    postgres.run(name, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}_reader")
    with TuningDB(postgres.url(name, username=f"{name}_reader")) as db:
        with pytest.raises(DatabaseError, match="refuses this to its user") as caught:
            join(db, device)
        assert "\n" not in str(caught.value)
