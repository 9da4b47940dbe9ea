"""A study's journal, whose writers may die at any moment."""

import multiprocessing
import os
import signal

import pytest
from optuna import create_study
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState, create_trial

from autotune.db import DatabaseError
from autotune.db.journal import Journal

RUNNING = create_trial(state=TrialState.RUNNING, user_attrs={"tuner": "a"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "s.journal"


def opened(path, tuner="a"):
    """A journal with a study."""
    journal = Journal(path, tuner)
    return journal, create_study(storage=journal, study_name="s", load_if_exists=True)


def as_optuna_reads(path):
    storage = JournalStorage(JournalFileBackend(str(path)))
    return storage.get_all_trials(storage.get_study_id_from_name("s"))


def retry(study, trial):
    study.add_trial(create_trial(state=TrialState.WAITING, user_attrs=trial.user_attrs))


def test_two_that_write_in_turns_see_the_same_as_optuna(path):
    (one, first), (other, second) = opened(path), opened(path, "b")
    with one, other:
        for study in (first, second, first):
            study.tell(study.ask(), 1.0)
        assert [trial.state for trial in first.trials] == [trial.state for trial in second.trials]
        assert len(as_optuna_reads(path)) == len(second.trials) == 3


@pytest.mark.parametrize("torn", [b'{"op_code":4,"wor', b"\0\0\0"])
def test_a_torn_line_is_cut_off_before_the_next_one_is_written(path, torn):
    journal, study = opened(path)
    with journal:
        study.tell(study.ask(), 1.0)
        path.write_bytes(path.read_bytes() + torn)
        other, late = opened(path, "b")
        assert len(late.trials) == 1
        with other:
            late.tell(late.ask(), 2.0)
        study.tell(study.ask(), 3.0)
        assert [trial.value for trial in study.trials] == [1.0, 2.0, 3.0]
    assert [trial.value for trial in as_optuna_reads(path)] == [1.0, 2.0, 3.0]


def test_a_whole_line_that_is_no_log_is_one_line_that_names_the_file(path):
    opened(path)
    path.write_bytes(path.read_bytes() + b"nonsense\n")
    with pytest.raises(DatabaseError, match=r"s\.journal holds what cannot be read \(.*\): remove it") as caught:
        Journal(path, "b")
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseError, match=r"s\.journal could not be written or read"):
        Journal(tmp_path / "file" / "s.journal", "a")


def test_the_trials_of_a_tuner_that_is_over_are_given_up_once(path):
    (one, first), (other, second), (third, last) = opened(path), opened(path, "b"), opened(path, "c")
    with other, third:
        with one:
            first.add_trial(RUNNING)
            other.fail_dead(second, retry)
            assert [trial.state.name for trial in second.trials] == ["RUNNING"]
        other.fail_dead(second, retry)
        third.fail_dead(last, retry)
        assert [trial.state.name for trial in last.trials] == ["FAIL", "WAITING"]
    assert [file.name for file in path.parent.iterdir()] == ["s.journal"]


def test_trials_of_other_programs_are_left_alone(path):
    journal, study = opened(path)
    with journal:
        study.ask()
        journal.fail_dead(study, retry)
        assert [trial.state.name for trial in study.trials] == ["RUNNING"]


def die_with_the_lock(path, barrier):
    journal, study = opened(path, "dead")
    with journal, journal.exclusive(study._study_id):
        study.add_trial(create_trial(state=TrialState.RUNNING, user_attrs={"tuner": "dead"}))
        barrier.wait(timeout=60)
        os.kill(os.getpid(), signal.SIGKILL)


def test_the_locks_of_a_process_that_is_killed_are_free(path):
    context = multiprocessing.get_context("forkserver")
    barrier = context.Barrier(2)
    process = context.Process(target=die_with_the_lock, args=(path, barrier))
    process.start()
    barrier.wait(timeout=60)
    process.join()
    journal, study = opened(path)
    with journal, journal.exclusive(study._study_id):
        journal.fail_dead(study, retry)
        assert [trial.state.name for trial in study.trials] == ["FAIL", "WAITING"]
    assert [file.name for file in path.parent.iterdir()] == ["s.journal"]


def test_news_are_each_trial_until_it_is_over_and_then_it_takes_no_memory(path):
    (journal, _), (other, elsewhere) = opened(path), opened(path, "b")
    with journal, other:
        trials = [elsewhere.ask() for _ in range(2)]
        create_study(storage=other, study_name="another").ask()
        assert [trial.number for trial in journal.news(0, set(), -1)] == [0, 1]
        elsewhere.tell(trials[0], 1.0)
        assert [trial.value for trial in journal.news(0, {0, 1}, -1)] == [1.0, None]
        assert [trial.number for trial in journal.news(0, {1}, 0)] == [1]
        with pytest.raises(UpdateFinishedTrialError):
            journal.set_trial_user_attr(trials[0]._trial_id, "late", 1)
    assert as_optuna_reads(path)[0].value == 1.0


def test_a_study_in_memory_needs_no_file():
    journal, study = opened(None)
    with journal, journal.exclusive(study._study_id):
        study.tell(study.ask(), 1.0)
        journal.fail_dead(study, retry)
        assert study.best_value == 1.0
