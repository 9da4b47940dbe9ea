"""Several runs work on one study, in files and in PostgreSQL, and some of them die."""

import signal
from dataclasses import replace
from math import inf
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState, create_trial
from sqlalchemy import create_engine, event, text
from tuner_fakes import LEGAL, SEEDS, TOY, ToyDevice, ToyProblem, ToySchedule, toy_seconds
from tuner_processes import LARGE_TOY, PROBLEM, PROCESS, run_until_killed, said, started

from autotune.db import DatabaseError, Status, TimeSource, TuningDB
from autotune.db.engine import database_url, of_schema
from autotune.db.journal import Journal
from autotune.db.study_tables import StudyTables
from autotune.devices.base import Evaluation
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import TuneOptions, tune
from autotune.tuner.search.proposals import Proposals
from autotune.tuner.study.shared import SharedProposals
from autotune.tuner.study.stored_study import StoredStudy, study_name

# More evaluations than there are schedules: such a run ends when nothing is left.
ALL = 1000
ONE, OTHER = sorted(LEGAL, key=str)[:2]


@pytest.fixture
def url(postgres):
    """A PostgreSQL database whose tables are there, Optuna's too."""
    return postgres.copied(with_studies)


def with_studies(url):
    with TuningDB(url) as database, StudyTables(database):
        pass


@pytest.fixture(params=["file", "postgres"])
def db(request, tmp_path, pools):
    """A database of either kind."""
    url = str(tmp_path / "tuning.sqlite3") if request.param == "file" else request.getfixturevalue("url")
    with TuningDB(url) as database:
        yield database


@pytest.fixture
def silence(url):
    """A function that makes all runs look dead."""
    engine = create_engine(url)

    def age():
        with engine.begin() as connection:
            connection.execute(text("UPDATE studies.trial_heartbeats SET heartbeat = heartbeat - interval '1 day'"))

    yield age
    engine.dispose()


def open_study(db):
    return StoredStudy(db, TOY, PROBLEM, ToyDevice(), "0123abcd", "s")


def join(db, device, trials=ALL):
    """Work on the study in this process."""
    return tune(TOY, PROBLEM, device, db, TuneOptions(trials, sampler="random", compile_workers=4, study="s"))


def trials(db):
    """The trials of the study, as Optuna's tools read them."""
    if db.url.get_backend_name() == "sqlite":
        (path,) = map(str, Path(f"{db.location}.studies").glob("*.journal"))
        storage = JournalStorage(JournalFileBackend(path))
    else:
        storage = RDBStorage(of_schema(db.url, "studies").render_as_string(hide_password=False))
    (study,) = storage.get_all_studies()
    return storage.get_all_trials(study._study_id)


def states(db):
    return [trial.state.name for trial in trials(db)]


def test_of_four_tuners_two_are_killed_and_only_what_they_had_is_tried_again(url, silence):
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
    assert set(states(db)) == {"COMPLETE", "PRUNED"}


def test_news_are_what_has_become_of_each_trial_once_whichever_ends_first(db):
    with open_study(db) as study:
        numbers = [study.offer(schedule, study._space.params_of(schedule)) for schedule in (ONE, OTHER)]
        assert [study.schedule_of(trial) for trial in study.news()] == [ONE, OTHER]
        for number in reversed(numbers):
            assert study.take(number)
            study.tell(number, 0.5, in_space=True)
            assert [one._trial_id for one in study.news() if one.state is TrialState.COMPLETE] == [number]
        assert study.news() == []


def test_what_becomes_of_a_trial_is_stored_in_one_transaction(url):
    with TuningDB(url) as db, open_study(db) as study:
        waiting, commits = study.offer(ONE, study._space.params_of(ONE)), []
        event.listen(study._storage.engine, "commit", commits.append)
        for change in (
            lambda: study.take(waiting),
            lambda: study.tell(waiting, inf, in_space=True, status="wrong", registers=32, error="C[0] = 1"),
            lambda: study.start(OTHER, None),
        ):
            commits.clear()
            change()
            assert len(commits) == 1
        told = trials(db)[0]
        assert (told.value, told.constraints) == (inf, {"failed": 1.0})
        assert {"status": "wrong", "registers": 32, "error": "C[0] = 1"}.items() <= told.user_attrs.items()


def test_what_others_try_is_told_to_the_sampler(db, device):
    """Another run evaluates a schedule while this one runs."""
    with open_study(db) as others:
        number = others.offer(ONE, others._space.params_of(ONE))
        assert others.take(number)
        join(db, device)
        assert ONE not in device.evaluations
        others.tell(number, 0.5, in_space=True)
        (told,) = [trial for trial in others.news() if trial._trial_id == number]
        assert told.value == 0.5
    again = ToyDevice()
    join(db, again)
    assert again.evaluations == [ONE], "the database does not know it"


def test_the_outcomes_of_others_are_told_while_a_run_goes_on(db, device, monkeypatch):
    told, tell_sampler = {}, Proposals.tell

    def noted(proposals, candidate, seconds):
        told[candidate.schedule] = seconds
        tell_sampler(proposals, candidate, seconds)

    monkeypatch.setattr(Proposals, "tell", noted)
    with open_study(db) as others:
        number = others.offer(ONE, others._space.params_of(ONE))
        assert others.take(number)

        def tell(schedule):
            if len(device.evaluations) == 5:
                others.tell(number, 1e-9, in_space=True)

        device.outcome = tell
        join(db, device)
    assert ONE not in device.evaluations
    assert told[ONE] == 1e-9


def test_what_a_run_stored_before_it_died_is_not_tried_again(tmp_path, device, monkeypatch):
    """It died before the study was told, and this run knew by then that ONE was being tried."""
    monkeypatch.setattr(Journal, "look_for_dead", 0.0)
    with TuningDB(str(tmp_path / "tuning.sqlite3")) as db:
        dead = open_study(db)
        dead.__enter__()
        assert dead.take(dead.offer(ONE, dead._space.params_of(ONE)))

        def die(schedule):
            if len(device.evaluations) == 5:
                names = {"schedule": ONE.to_dict(), "schedule_digest": ONE.digest}
                program = TOY.emit(PROBLEM, ONE).digest
                db.record(replace(db.trials("toy")[0], **names, program_digest=program, samples=(0.5,)))
                dead._storage.__exit__()

        device.outcome = die
        assert join(db, device).exhausted
        assert ONE not in device.evaluations
        assert len(device.evaluations) > 5
        assert states(db)[0] == "FAIL"
        assert 0.5 in [trial.value for trial in trials(db)]


def test_a_run_that_is_interrupted_gives_back_what_it_had_taken(db, device):
    def interrupted(schedule):
        if len(device.evaluations) == 3:
            raise KeyboardInterrupt

    device.outcome = interrupted
    assert join(db, device).interrupted
    assert [run.state for run in db.runs()] == ["interrupted"]
    assert set(states(db)) <= {"COMPLETE", "PRUNED", "WAITING"}
    other = ToyDevice()
    join(db, other)
    assert device.evaluations[2] in other.evaluations
    assert not set(device.evaluations[:2]) & set(other.evaluations)  # the database knows them
    assert set(device.evaluations) | set(other.evaluations) >= LEGAL
    assert set(states(db)) == {"COMPLETE", "PRUNED"}


def test_optunas_tools_find_what_was_found_out(db, device):
    refused, slow = ToySchedule(width=16), ToySchedule(width=1)
    early = Evaluation(Status.OK, (toy_seconds(slow),), conditions={"stopped_early": True})
    device.outcome = {refused: Evaluation(Status.WRONG, error="off by one"), slow: early}.get
    result = join(db, device)
    found = trials(db)
    assert len(found) == result.evaluated
    by_schedule = {ToySchedule.from_dict(trial.user_attrs.get("schedule", {})): trial for trial in found}
    assert by_schedule[SEEDS[1]].state is TrialState.PRUNED, "it is outside of the search space"
    study = optuna.create_study()
    study.add_trials(found)
    assert study.best_value == toy_seconds(ToySchedule(4, 4, "column", True))
    assert (
        study.best_trial.user_attrs.items()
        >= {
            "status": "ok",
            "time_source": "measured",
            "registers": 40,
            "spill_load_bytes": 8,
        }.items()
    )
    (wrong,) = [trial for trial in found if trial.user_attrs["status"] == "wrong"]
    assert (wrong.user_attrs["error"], wrong.value, wrong.constraints) == ("off by one", inf, {"failed": 1.0})
    (stopped,) = [trial for trial in found if "stopped_early" in trial.user_attrs]
    assert (stopped.state, stopped.value) == (TrialState.COMPLETE, toy_seconds(slow))
    (run,) = db.runs()
    assert {trial.user_attrs["run"] for trial in found} == {trial.run for trial in db.trials()} == {run.id}
    assert (run.command, run.operator, run.sampler) == ("autotune.tune()", "toy", "random")
    assert (run.state, run.counts) == ("done", {"ok": len(found) - 1, "wrong": 1})
    assert next(iter(optuna.importance.get_param_importances(study))) in {"width", "depth"}


def test_a_run_that_slept_and_was_taken_for_dead_goes_on(url, silence):
    with TuningDB(url) as db, open_study(db) as slept:
        number = slept.offer(ONE, slept._space.params_of(ONE))
        assert slept.take(number)
        silence()
        with open_study(db) as other:
            (again,) = other.news()
            assert other.take(again._trial_id)
            assert not slept.take(again._trial_id)
            slept.tell(number, 0.5, in_space=True)
            other.tell(again._trial_id, 0.5, in_space=True)
        assert states(db) == ["FAIL", "COMPLETE"]


def test_a_schedule_that_waits_twice_is_tried_once(db, device):
    with open_study(db) as others:
        others.offer(ONE, others._space.params_of(ONE))
        others.offer(ONE, others._space.params_of(ONE))
    join(db, device)
    assert device.evaluations.count(ONE) == 1
    assert states(db)[0] == "COMPLETE"


def test_a_run_may_claim_what_it_gave_up_but_not_what_another_tries(db, device):
    def sharing(study, first):
        return SharedProposals(Proposals(TOY, PROBLEM, device.spec, "random", 0, [first], {}), study, dict)

    with open_study(db) as study, open_study(db) as another:
        own = sharing(study, ONE)
        taken = next(own)
        assert next(sharing(another, OTHER)).schedule == OTHER
        assert own.claim(ONE) is taken
        assert own.claim(OTHER) is None


def test_what_is_not_legal_here_is_left_alone(db, device):
    with open_study(db) as others:
        for attributes in ({"schedule": {"width": 16, "depth": 16}}, {"schedule": {"newer": 1}}, {"schedule": 5}, {}):
            others._study.add_trial(create_trial(state=TrialState.WAITING, user_attrs=attributes))
    assert join(db, device).exhausted
    assert set(device.evaluations) >= LEGAL
    assert states(db).count("WAITING") == 4


def test_devices_that_differ_form_different_studies():
    device = ToyDevice()
    others = [
        ToyDevice(time_source=TimeSource.MODELLED),
        changed_device(environment={"driver": "590"}),
        changed_device(spec=replace(device.spec, sm_count=7)),
    ]
    names = [study_name("s", TOY, PROBLEM, one) for one in [device, ToyDevice(), *others]]
    assert names[0] == names[1]
    assert len(set(names)) == 4
    assert study_name("t", TOY, PROBLEM, device) not in names
    assert study_name("s", TOY, ToyProblem(9), device) not in names
    assert study_name("s", LARGE_TOY, PROBLEM, device) not in names
    one_source = TOY.with_kernels(emit=lambda _, schedule: TOY.emit(PROBLEM, schedule))
    assert study_name("s", one_source, PROBLEM, device) != study_name("s", one_source, ToyProblem(9), device)


def changed_device(**values):
    device = ToyDevice()
    vars(device).update(values)
    return device


def test_a_user_who_may_make_no_tables_is_told_so(postgres, url, device):
    name = database_url(url).database
    postgres.run(name, f"CREATE USER {name}_writer PASSWORD 's3cret'")
    postgres.run(name, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}_writer")
    with TuningDB(postgres.url(name, username=f"{name}_writer")) as db:
        with pytest.raises(DatabaseError, match="refuses this to its user") as caught:
            join(db, device)
        assert "\n" not in str(caught.value)


def test_tables_of_another_optuna_are_one_line(postgres, url, device):
    db = TuningDB(url)
    join(db, device, 1)
    postgres.run(database_url(url).database, "UPDATE studies.alembic_version SET version_num = 'v9.0.0.a'")
    with pytest.raises(DatabaseError, match="is no longer compatible with the table schema") as caught:
        join(db, device, 1)
    assert "\n" not in str(caught.value)


def test_tables_that_are_gone_are_one_line(postgres, url):
    db = TuningDB(url)
    with open_study(db) as study:
        postgres.run(database_url(url).database, "DROP SCHEMA studies CASCADE")
        with pytest.raises(DatabaseError, match="lacks a table or a column") as caught:
            study.news()
        assert "\n" not in str(caught.value)
