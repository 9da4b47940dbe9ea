"""The runoff: who takes part, who wins, and what is stored."""

from dataclasses import replace
from itertools import count

import pytest
from tuner_fakes import LEGAL, TOY, ToyDevice, ToyProblem, ToySchedule, toy_seconds

from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.devices.base import Evaluation
from autotune.tuner import TuneOptions, runoff, tune
from autotune.tuner.runoff import ROUNDS, leaders, participants, run_off

TRIAL = Trial(
    DeviceRecord("NVIDIA H200", (9, 0), {}),
    ProblemRecord("toy", "n8", {}),
    {},
    "a",
    Status.OK,
    TimeSource.MEASURED,
    (1.0,),
)


def trial(name, seconds=1.0, **changes):
    return replace(TRIAL, schedule={"name": name}, schedule_digest=name, **{"samples": (seconds,)} | changes)


def names(trials):
    return [one.schedule_digest for one in trials]


def drifting(times):
    """What measures a schedule again: its time, on a clock that slows down by 3 % from a measurement to the next."""
    clock = (1.03**number for number in count())
    return lambda one: replace(one, samples=(times[one.schedule_digest] * next(clock),) * 10)


def test_the_few_fastest_ok_trials_are_kept():
    wrong = replace(trial("wrong", 0.1), status=Status.WRONG)
    assert names(leaders([wrong, *(trial(str(number), number) for number in (5.0, 3.0, 1.0, 4.0, 2.0))])) == [
        "1.0", "2.0", "3.0", "4.0"
    ]  # fmt: skip


def test_three_challenge_the_incumbent_or_in_a_first_run_the_fastest():
    few = [trial(name, seconds) for name, seconds in (("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0))]
    assert names(participants(trial("old"), few, 1000)) == ["old", "a", "b", "c"]
    assert names(participants(None, few, 1000)) == ["a", "b", "c", "d"]
    assert participants(None, few[:1], 1000) == participants(trial("old"), [], 1000) == []


def test_short_runs_and_modelled_times_have_none():
    few = [trial("a"), trial("b")]
    assert participants(trial("old"), few, 95) == []
    assert participants(trial("old"), few, 96)
    assert participants(trial("old"), [replace(one, time_source=TimeSource.MODELLED) for one in few], 1000) == []


def test_a_challenger_that_is_surely_faster_wins_in_spite_of_a_drifting_clock():
    listed = [trial("old"), trial("a"), trial("b")]
    decided, again = run_off(listed, drifting({"old": 1.0, "a": 0.7, "b": 0.8}))
    assert decided.winner is not decided.incumbent
    assert (decided.winner.schedule_digest, decided.incumbent.schedule_digest) == ("a", "old")
    assert decided.ratio.low == pytest.approx(0.7 * 1.03) == pytest.approx(decided.ratio.high)
    assert [len(one.samples) for one in again] == [10 * ROUNDS] * 3
    assert names(again) == ["old", "a", "b"]


def test_a_tie_keeps_the_incumbent():
    noise = iter([1.0, 0.98, 1.0, 0.99, 1.0, 1.01, 1.0, 0.99] * (ROUNDS // 4))
    decided, _ = run_off([trial("old"), trial("a")], lambda one: replace(one, samples=(next(noise),)))
    assert decided.winner is decided.incumbent
    assert decided.ratio.low < decided.ratio.middle < 1 < decided.ratio.high


def test_one_that_was_lucky_before_loses():
    decided, _ = run_off([trial("old", 1.0), trial("lucky", 0.5)], lambda one: replace(one, samples=(1.0,)))
    assert decided.winner.schedule_digest == "old"


def test_who_fails_drops_out_and_the_next_stands_in_for_the_incumbent():
    calls = []

    def evaluate(one):
        calls.append(one.schedule_digest)
        wrong = one.schedule_digest == "old" and calls.count("old") == 3
        return replace(one, status=Status.WRONG, samples=()) if wrong else one

    decided, again = run_off([trial("old"), trial("a", 2.0), trial("b", 1.0)], evaluate)
    assert calls.count("old") == 3
    assert [one.status for one in again] == [Status.WRONG, Status.OK, Status.OK]
    assert (decided.incumbent.schedule_digest, decided.winner.schedule_digest) == ("a", "b")
    nobody, _ = run_off([trial("a"), trial("b")], lambda one: replace(one, status=Status.WRONG, samples=()))
    assert nobody is None


def test_after_a_tie_the_incumbent_is_best_in_the_database_too(device, db, monkeypatch):
    """Although another participant, and one that was not among them, have the lower median."""
    monkeypatch.setattr(runoff, "_SHORT_RUN", 20)
    incumbent, tied, third, fourth, fifth = sorted(LEGAL, key=str)[:5]
    times = {
        incumbent: iter([1.0, *[1.3] * ROUNDS]),
        tied: iter([1.1, *[1.17] * (ROUNDS - 3), *[1.56] * 3]),
        third: iter([1.11, *[2.0] * ROUNDS]),
        fourth: iter([1.12, *[2.0] * ROUNDS]),
        fifth: iter([1.2]),
    }
    device.outcome = lambda schedule: Evaluation(Status.OK, (next(times[schedule]) if schedule in times else 3.0,))
    result = tune(TOY, ToyProblem(8), device, db, TuneOptions(trials=1000))
    assert result.runoff.ratio.middle < 1
    best = db.best("toy", "n8", "NVIDIA H200")
    assert best == result.best == result.runoff.winner
    assert (best.schedule, best.seconds) == (incumbent.to_dict(), 1.3)
    listed = db.ranked("toy", "n8", "NVIDIA H200", best.compiler, TimeSource.MEASURED)
    assert [one.seconds for one in listed[:3]] == [1.3, 2.0, 2.0]
    assert [one.seconds for one in listed[-2:]] == [1.17, 1.2]
    again = tune(TOY, ToyProblem(8), device, db, TuneOptions(trials=1000))
    assert (again.evaluated, again.best) == (0, best)


def test_a_run_names_the_winner_and_stores_all_samples(device, db, monkeypatch):
    monkeypatch.setattr(runoff, "_SHORT_RUN", 20)
    lucky = ToySchedule(16, 1)

    def outcome(schedule):
        first = device.evaluations.count(schedule) == 1
        return Evaluation(Status.OK, (1e-5,)) if schedule == lucky and first else None

    device.outcome = outcome
    result = tune(TOY, ToyProblem(8), device, db, TuneOptions(trials=1000))
    assert device.evaluations.count(lucky) == 1 + ROUNDS
    assert result.runoff.incumbent.schedule == lucky.to_dict()
    assert result.runoff.winner == result.best == db.best("toy", "n8", "NVIDIA H200")
    assert result.best.schedule == ToySchedule(4, 4, "column", True).to_dict()
    assert result.evaluated == len(set(device.evaluations))
    assert len(result.best.samples) == ROUNDS * len(Evaluation(Status.OK, (toy_seconds(lucky),)).samples)
    again = tune(TOY, ToyProblem(8), ToyDevice(), db, TuneOptions(trials=1000))
    assert (again.runoff, again.best.schedule) == (None, result.best.schedule)
