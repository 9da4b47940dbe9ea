"""What a run tries first, of what is known from others."""

from dataclasses import replace

import pytest
from factories import TRANSPOSE, schedules, trials

from autotune.compiler import compiler_version
from autotune.db import Status, TimeSource, TuningDB
from autotune.db.trials import Tried
from autotune.devices.select import device
from autotune.runs.history import History
from autotune.runs.provenance import study_name
from autotune.search_spaces.contract.modelled_time import fastest_first


@pytest.mark.parametrize("compiler", ["NVRTC 1.0", ""])
def test_the_few_fastest_of_the_problem_by_any_compiler_and_one_for_others(compiler):
    problem = TRANSPOSE.problem_type(64, 64)
    *special, generic = dict.fromkeys(one.shape_generic for one in schedules(20, problem))
    own = [*(one.shape_specialized for one in special), generic]
    with TuningDB("sqlite://") as db:
        for index, trial in enumerate(trials(own, problem)):
            source = {"time_source": TimeSource.MODELLED, "compiler": compiler}
            db.record(replace(trial, samples=(1e-6 * (index + 1),), **source))
        first = History(TRANSPOSE, problem, device("h200"), db).first_candidates()
    assert first[:4] == [own[0], generic, *own[1:3]]
    assert len(first) == len(set(first))


def test_the_winner_of_the_same_problem_on_a_relative_is_tried_first():
    problem, h100 = TRANSPOSE.problem_type(4096, 4096), device("h100").spec
    drawn = dict.fromkeys(one.shape_generic for one in schedules(100, problem))
    winner = fastest_first(
        TRANSPOSE, problem, [one for one in drawn if one not in TRANSPOSE.seeds(problem, h100)], h100
    )
    with TuningDB("sqlite://") as db:
        (trial,) = trials(winner[:1], problem)
        db.record(trial)
        assert winner[0] in History(TRANSPOSE, problem, device("h100"), db).first_candidates()
        assert winner[0] not in History(TRANSPOSE, problem, device("a100"), db).first_candidates()


def test_the_winners_of_the_nearest_problems_come_too_but_for_illegal_ones():
    problem, spec = TRANSPOSE.problem_type(4096, 4096), device("h200").spec
    drawn = dict.fromkeys(one.shape_generic for one in schedules(100, problem))
    others = [one for one in drawn if one not in TRANSPOSE.seeds(problem, spec)][:7]
    illegal = replace(others[0], rows_per_thread=3)
    with TuningDB("sqlite://") as db:
        for octaves, schedule in enumerate([illegal, *others], 1):
            (trial,) = trials([schedule], TRANSPOSE.problem_type(4096 << octaves, 4096))
            db.record(trial)
        first = History(TRANSPOSE, problem, device("h200"), db).first_candidates()
    assert len(others) == 7
    assert {one for one in others if one in first} == {*others[:5]}
    assert illegal not in first


def test_what_ended_in_todays_study_is_known_without_its_program(monkeypatch):
    problem, h200 = TRANSPOSE.problem_type(64, 64), device("h200")
    drawn, today = TRANSPOSE.seeds(problem, h200.spec)[:3], study_name(TRANSPOSE, problem, h200)
    found = [
        Tried(one.to_dict(), one.digest, Status.OK, 1e-3, {}, compiler_version(), "0" * 64, study)
        for one, study in zip(drawn, (f"a name: {today}", "another", today), strict=True)
    ]
    monkeypatch.setattr(TuningDB, "tried", lambda *_: found)
    with TuningDB("sqlite://") as db:
        assert [*History(TRANSPOSE, problem, h200, db).tried()] == [drawn[0], drawn[2]]


def test_a_trial_that_was_changed_by_hand_is_left_out_with_a_warning(monkeypatch):
    problem, h200 = TRANSPOSE.problem_type(64, 64), device("h200")
    own, other = TRANSPOSE.seeds(problem, h200.spec)[:2]
    found = [
        Tried(values, digest, Status.OK, 1e-3, {}, compiler_version(), "", study_name(TRANSPOSE, problem, h200))
        for values, digest in ((own.to_dict(), own.digest), (other.to_dict() | {"bogus": 1}, other.digest))
    ]
    monkeypatch.setattr(TuningDB, "tried", lambda *_: found)
    with TuningDB("sqlite://") as db, pytest.warns(RuntimeWarning, match="m64-n64-e4 .* left out.* 'bogus'.*db prune"):
        assert [*History(TRANSPOSE, problem, h200, db).tried()] == [own]
