"""What a tuning run promises, on a toy operator and a device that times it by a formula."""

import os
import re
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import count
from math import inf

import optuna
import pytest
from refusals import refused
from tuner_fakes import (
    KERNEL,
    LEGAL,
    SEEDS,
    TOY,
    FakePool,
    ToyDevice,
    ToyProblem,
    ToySchedule,
    changed,
    emit,
    toy_seconds,
)

from autotune.base.optuna_log import quiet_optuna
from autotune.codegen.model.footprint import Footprint
from autotune.compiler import CompileError, CompilerKilledError
from autotune.db import Status, TimeSource, TuningDB
from autotune.devices.base import DeviceError, Evaluation
from autotune.runs.history import seconds_of, stale_problems
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.workload import Workload
from autotune.tuner import TuneOptions, problem_search, tune
from autotune.tuner.ahead import Ahead
from autotune.tuner.search.proposals import Proposals
from autotune.tuner.search.samplers import SAMPLERS as ALL_SAMPLERS
from autotune.tuner.search.samplers import missing

PROBLEM = ToyProblem(8)
SAMPLERS = [name for name in ALL_SAMPLERS if not missing(name)]


def run(device, db, problem=PROBLEM, on_progress=None, operator=TOY, **options):
    """A run by the quickest sampler, unless options name another."""
    options = {"compile_workers": 2, "sampler": "random"} | options
    return tune(operator, problem, device, db, TuneOptions(**options), on_progress)


def stored(db):
    return [ToySchedule.from_dict(trial.schedule) for trial in reversed(db.trials("toy"))]


def test_only_what_is_asked_for_is_tried_and_wins(device, db):
    run(device, db)
    fastest = run(device, db, trials=1).best
    asked = {"only": ("order=column",), "exclude": (f"width={fastest.schedule['width']}",)}
    run(device, db, problem=replace(PROBLEM, n=PROBLEM.n + 1), **asked)
    tried = [ToySchedule.from_dict(one.schedule) for one in db.trials("toy") if one.problem.key != PROBLEM.key]
    assert {str(one.order) for one in tried} == {"column"}
    assert fastest.schedule["width"] not in {one.width for one in tried}
    known = run(device, db, trials=1, only=("depth=2",))
    assert known.best.schedule["depth"] == 2 != fastest.schedule["depth"]
    assert db.best("toy", PROBLEM.key, device.spec.name) == fastest


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_where_nothing_that_is_asked_for_is_legal_a_run_ends_without_a_trial(device, db, sampler):
    result = run(device, db, sampler=sampler, only=("width=16", "depth=4"))
    assert (result.evaluated, result.best, result.exhausted) == (0, None, True)


def test_a_run_without_a_faster_schedule_ends_with_its_patience(device, db):
    found = []
    result = run(device, db, trials=1000, patience=3, on_progress=found.append)
    last = next(number for number, one in enumerate(found, 1) if one.best is found[-1].best)
    assert len(found) == last + 3
    assert result.evaluated in (last + 3, last + 4)  # and the winner's twin


def test_energy_is_minimised_where_a_device_measures_it_and_the_fastest_still_serves(device, db):
    def joules(schedule):
        return toy_seconds(schedule) * (1.0 if schedule.width == 1 else 40.0)

    run(device, db, trials=1000)  # whose trials have no energy: they are tried again
    with pytest.raises(DeviceError, match="measures no energy"):
        run(device, db, objective="energy")
    device.outcome = lambda one: Evaluation(Status.OK, (toy_seconds(one),), conditions={"joules": joules(one)})
    found = run(device, db, trials=40, objective="energy")
    assert ToySchedule.from_dict(found.best.schedule) == min(LEGAL, key=joules) != min(LEGAL, key=toy_seconds)
    again = run(device, db, trials=1000, objective="energy")
    assert (again.known, again.best) == (40, found.best)
    assert ToySchedule.from_dict(db.best("toy", PROBLEM.key, device.spec.name).schedule) == min(LEGAL, key=toy_seconds)
    assert run(device, db, trials=1000).evaluated == 0


def test_seeds_come_first_and_the_budget_is_kept(device, db):
    result = run(device, db, trials=12)
    assert device.evaluations[: len(SEEDS)] == SEEDS
    assert result.evaluated == len(device.evaluations) == 12
    assert len(set(device.evaluations)) == 12
    assert set(device.evaluations) <= LEGAL | set(SEEDS)
    assert not result.exhausted
    assert not result.interrupted


def test_a_run_that_fails_is_stored_as_such(device, db):
    def gone(schedule):
        raise DeviceError("it fell off the bus")

    device.outcome = gone
    with pytest.raises(DeviceError):
        run(device, db, seed=3)
    (failed,) = db.runs()
    assert (failed.state, failed.error, failed.counts) == ("failed", "it fell off the bus", {})
    assert (failed.sampler, failed.seed, failed.options) == (
        "random",
        3,
        {"trials": 200, "compile_workers": 2, "objective": "time"},
    )
    assert failed.devices[0]["driver"] == "580"


def test_a_shape_generic_twin_costs_no_trial_more_than_the_budget(device, db, monkeypatch):
    monkeypatch.setattr(ToySchedule, "shape_generic", property(lambda schedule: SEEDS[1]))
    assert run(device, db, trials=1).evaluated == 1
    assert stored(db) == SEEDS[:1]


@pytest.mark.parametrize("source", TimeSource)
def test_a_shape_generic_twin_comes_last_and_is_compiled_meanwhile_where_times_are_measured(
    device, db, pools, monkeypatch, source
):
    twin = ToySchedule(depth=5)
    monkeypatch.setattr(ToySchedule, "shape_generic", property(lambda schedule: twin))
    device.time_source = source
    run(device, db, trials=6, seconds=1e-9)
    assert device.evaluations == [SEEDS[0], twin]
    measured = source is TimeSource.MEASURED
    assert pools[0].prepared == [(emit(PROBLEM, twin), "sm_90")] * measured


@pytest.mark.parametrize(
    ("argument", "value", "expected"),
    [
        ("operator", "toy", r"an Operator, such as autotune.operator\('sgemm'\)"),
        ("problem", (8,), "a ToyProblem"),
        ("device", "h200", r"a device, such as autotune.worker_device\('h200'\)"),
        ("db", "tuning.sqlite3", r"a database, such as autotune.TuningDB\('tuning.sqlite3'\)"),
        ("options", 200, r"TuneOptions, such as autotune.TuneOptions\(trials=200\)"),
    ],
)
def test_an_argument_of_another_type_is_refused_in_one_line(device, db, argument, value, expected):
    arguments = {"operator": TOY, "problem": PROBLEM, "device": device, "db": db, "options": TuneOptions()}
    with pytest.raises(TypeError, match=f"^{argument}={re.escape(repr(value))}: expected {expected}$"):
        tune(**arguments | {argument: value})


def test_an_empty_problem_is_refused(device, db):
    with pytest.raises(ValueError, match="transpose m0-n4-e4 has nothing to compute, so there is nothing to tune"):
        tune(operator("transpose"), operator("transpose").problem_type(0, 4), device, db, TuneOptions())


def test_a_trial_is_stored_with_all_that_was_found_out(device, db, pools):
    found = Evaluation(Status.OK, (toy_seconds(SEEDS[0]),), max_error=0.25, conditions={"celsius": 40})
    device.outcome = lambda schedule: found
    run(device, db, trials=1)
    (trial,) = db.trials()
    schedule = SEEDS[0]
    assert (trial.device.model, trial.device.compute_capability) == ("NVIDIA H200", (9, 0))
    assert trial.device.limits["sm_count"] == 132
    assert (trial.problem.operator, trial.problem.key) == ("toy", "n8")
    assert trial.problem.fields == {"n": 8, "turned": False}
    assert (trial.schedule, trial.schedule_digest) == (schedule.to_dict(), schedule.digest)
    assert (trial.status, trial.time_source) == (Status.OK, TimeSource.MEASURED)
    assert (trial.samples, trial.max_error, trial.error) == ((toy_seconds(schedule),), 0.25, "")
    assert (trial.resources["registers"], trial.resources["spill_load_bytes"]) == (40, 8)
    assert trial.environment == {"driver": "580", "limits": device.spec.digest}
    assert trial.conditions == {"celsius": 40}
    source, arch = pools[0].submitted[0]
    assert (trial.compiler, trial.program_digest) == (KERNEL.compiler, source.digest)
    assert arch == "sm_90"


def test_progress_tells_each_trial_when_it_is_stored(device, db):
    seen = []

    def on_progress(progress):
        assert progress.trial.schedule == stored(db)[-1].to_dict()
        seen.append(progress)

    result = run(device, db, trials=10, on_progress=on_progress)
    assert [progress.done for progress in seen] == list(range(1, 11))
    assert {progress.budget for progress in seen} == {10}
    seconds = [toy_seconds(schedule) for schedule in device.evaluations]
    assert [progress.best.seconds for progress in seen] == [min(seconds[: n + 1]) for n in range(10)]
    assert result.best == seen[-1].best


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_small_space_is_exhausted(device, db, sampler):
    result = run(device, db, trials=1000, sampler=sampler)
    assert result.exhausted
    assert len(device.evaluations) == result.evaluated == len(LEGAL | set(SEEDS))
    assert set(device.evaluations) == LEGAL | set(SEEDS)
    assert result.best.seconds == toy_seconds(ToySchedule(4, 4, "column", True))
    again = run(device, db, trials=1000, sampler=sampler)
    assert (again.exhausted, again.evaluated, again.known, again.best) == (True, 0, result.evaluated, result.best)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_schedule_is_never_evaluated_twice(device, db, sampler):
    first = run(device, db, trials=15, sampler=sampler)
    second = run(device, db, trials=15, sampler=sampler)
    assert (second.known, second.evaluated) == (15, 15)
    assert len(device.evaluations) == len(set(device.evaluations)) == 30
    assert second.best.seconds <= first.best.seconds


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_optuna_neither_logs_nor_warns(device, db, sampler, caplog):
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.enable_propagation()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run(device, db, trials=40, sampler=sampler)
    finally:
        optuna.logging.disable_propagation()
    assert caplog.messages == []
    assert optuna.logging.get_verbosity() == verbosity < optuna.logging.ERROR


def test_the_same_seed_tries_the_same_schedules_where_times_are_modelled_however_long_compiling_takes(
    tmp_path, pools, monkeypatch
):
    def tried(seed, lazy):
        monkeypatch.setattr(FakePool, "lazy", lazy)
        device = ToyDevice(TimeSource.MODELLED)
        with TuningDB(str(tmp_path / f"{seed}{lazy}.sqlite3")) as db:
            run(device, db, trials=20, seed=seed)
        return device.evaluations

    assert tried(1, lazy=False) == tried(1, lazy=True)
    assert tried(1, lazy=False) != tried(2, lazy=False)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_sampler_draws_by_its_seed(name):
    def draws(seed):
        proposals = Proposals(TOY, PROBLEM, ToyDevice.spec, name, seed, first=(), known={})
        return [next(proposals) for _ in range(5)]

    with quiet_optuna():
        assert draws(1) == draws(1)
        assert draws(1) != draws(2) or name == "bayes"  # whose first ones are those of the time model


def test_others_are_proposed_and_compiled_while_one_is_evaluated(device, db, pools):
    ahead = []
    # Without a thread that proposes this would wait in vain.
    device.outcome = lambda schedule: ahead.append(pools[0].holds(min(10, len(device.evaluations) + 3)))
    run(device, db, trials=10, compile_workers=2)
    assert pools[0].processes == 2
    assert ahead == [4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


def test_no_more_than_sixteen_are_under_way_on_a_machine_with_many_cpus(device, db, monkeypatch):
    depths = []
    monkeypatch.setattr(problem_search, "Ahead", lambda *arguments: depths.append(arguments[3]) or Ahead(*arguments))
    for workers in (1, 3, 64):
        run(device, db, trials=1, compile_workers=workers)
    assert depths == [2, 6, 16]


def compiled_ahead(device, db, following, trials=6):
    pool = FakePool(2)
    tune(TOY, PROBLEM, device, db, TuneOptions(trials=trials), pool=pool, following=following)
    return pool.prepared


def test_the_first_kernels_of_the_problem_that_follows_are_compiled_meanwhile(device, db):
    following = ToyProblem(9)
    programs = [emit(following, schedule) for schedule in ("reference", *SEEDS)]
    prepared = compiled_ahead(device, db, (TOY, following))
    assert set(prepared) >= {(program, "sm_90") for program in programs}
    assert len(prepared) <= 1 + 4  # as many as are under way; the winner of what is being tuned may be among them
    run(device, db, problem=following, trials=1)
    known = emit(following, device.evaluations[-1])
    again = [program for program, _ in compiled_ahead(device, db, (TOY, following))]
    assert again[0] == programs[0]
    assert known not in again
    assert len(compiled_ahead(device, db, (TOY, ToyProblem(10)), trials=2)) <= 1 + 2 + 1  # no more than are tried


@pytest.mark.parametrize("source", TimeSource)
def test_nothing_more_is_compiled_for_the_last_problem_or_where_times_are_modelled(device, db, source):
    device.time_source = source
    following = (TOY, ToyProblem(9)) if source is TimeSource.MODELLED else None
    assert compiled_ahead(device, db, following) == []


@pytest.mark.parametrize(("seconds", "times"), [(None, 1), (60, 1), (1, 0)])
def test_a_short_run_does_not_prepare_its_sampler(device, db, monkeypatch, seconds, times):
    prepared = []
    monkeypatch.setattr(Proposals, "prepare", lambda _: prepared.append(1))
    run(device, db, trials=12, seconds=seconds)
    assert len(prepared) == times


# ---- what ends a run -------------------------------------------------------------------------------------------------


def at(number, action):
    """An outcome that acts at one evaluation."""
    numbers = count(1)
    return lambda schedule: action() if next(numbers) == number else None


def interrupt():
    raise KeyboardInterrupt


def terminate():
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("end", [interrupt, terminate])
def test_an_interrupted_run_keeps_what_it_did_and_the_next_one_goes_on(device, db, pools, end):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    device.outcome = at(3, end)
    result = run(device, db, trials=20)
    assert (result.interrupted, result.evaluated) == (True, 2)
    assert stored(db) == device.evaluations[:2] == SEEDS[:2]
    assert pools[0].closed
    assert device.open_sessions == 0
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL

    resumed = ToyDevice()
    result = run(resumed, db, trials=5)
    assert (result.interrupted, result.known, result.evaluated) == (False, 2, 5)
    assert resumed.evaluations[0] == SEEDS[2]
    assert not set(resumed.evaluations) & set(SEEDS[:2])


def test_a_device_that_is_lost_ends_the_run_with_what_was_done_kept(device, db, pools):
    def lose():
        raise DeviceError("the GPU has fallen off the bus")

    device.outcome = at(4, lose)
    with pytest.raises(DeviceError, match="fallen off"):
        run(device, db, trials=20)
    assert stored(db) == device.evaluations[:3]
    assert pools[0].closed


def test_the_time_budget_ends_the_run_after_an_evaluation(device, db):
    clock = [100.0]

    def minute(schedule):
        clock[0] += 60

    device.outcome = minute
    result = tune(TOY, PROBLEM, device, db, TuneOptions(seconds=150), now=lambda: clock[0])
    assert (result.evaluated, result.seconds, result.interrupted) == (3, 180, False)


# ---- failures --------------------------------------------------------------------------------------------------------


def test_failures_are_stored_and_never_best(device, db, monkeypatch):
    def outcome(schedule):
        if schedule.width == 8:
            return Evaluation(Status.WRONG, (1e-9,), "17 of 64 outputs are wrong", 3.0)
        return Evaluation(Status.LAUNCH_ERROR, error="too many resources") if schedule.depth == 3 else None

    device.outcome = outcome
    refused = CompileError("toy.cu(1): error: refused")
    monkeypatch.setattr(
        FakePool, "refused", staticmethod(lambda source: refused if "order=column" in source.source else None)
    )
    result = run(device, db, trials=1000)
    by_status = {status: db.trials(status=status) for status in Status}
    assert result.by_status == {status: len(trials) for status, trials in by_status.items() if trials}
    assert result.failed == sum(len(trials) for trials in by_status.values()) - len(by_status[Status.OK])
    assert {trial.error for trial in by_status[Status.WRONG]} == {"17 of 64 outputs are wrong"}
    assert [trial.error for trial in by_status[Status.LAUNCH_ERROR]] == ["too many resources"]
    (error,) = {trial.error for trial in by_status[Status.COMPILE_ERROR]}
    assert error == "toy.cu(1): error: refused"
    assert all(trial.compiler.startswith("NVRTC") for trial in by_status[Status.COMPILE_ERROR])
    assert not any(schedule.order == "column" for schedule in device.evaluations)
    assert result.best == db.best("toy", "n8", "NVIDIA H200") in by_status[Status.OK]
    again = run(device, db, trials=1000)
    assert (again.evaluated, again.best) == (0, result.best)


def test_a_failure_with_a_time_counts_as_one_without(device, db):
    run(device, db, trials=1)
    (trial,) = db.trials("toy")
    assert (seconds_of(trial), seconds_of(replace(trial, status=Status.WRONG))) == (trial.seconds, inf)


def test_a_run_without_a_single_ok_trial_has_no_best(device, db):
    device.outcome = lambda schedule: Evaluation(Status.TIMEOUT, (1.0,), "took too long")
    result = run(device, db, trials=5)
    assert (result.best, result.by_status) == (None, {Status.TIMEOUT: 5})
    assert run(device, db, trials=5).best is None


def test_illegal_draws_cost_no_budget_and_are_not_stored(device, db):
    result = run(device, db, trials=30, sampler="random")
    assert result.illegal > 0
    assert result.evaluated == len(db.trials()) == 30
    assert not db.trials(status=Status.ILLEGAL)


# ---- what earlier runs found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"program_digest": "0" * 64},
        {"compiler": "NVRTC 12.9"},
        {"environment": {"driver": "570"}},
        {"environment": {"limits": "0" * 16}},
        {"time_source": TimeSource.MODELLED},
        {"device": "NVIDIA A100"},
        {"problem": "n9"},
    ],
)
def test_trials_of_another_kind_are_not_gone_on_from(device, db, changes):
    run(device, db, trials=2)
    (second, first) = db.trials()
    with TuningDB(db.location + "2") as others:
        for trial in (first, second):
            if "device" in changes:
                others.record(changed(trial, device=changed(trial.device, model=changes["device"])))
            elif "problem" in changes:
                others.record(changed(trial, problem=changed(trial.problem, key=changes["problem"])))
            else:
                others.record(changed(trial, **changes))
        result = run(device, others, trials=3)
    assert (result.known, result.evaluated) == (0, 3)
    assert set(device.evaluations[2:]) == set(SEEDS)


def test_what_another_reference_found_wrong_is_tried_again(device, db):
    def tried_by(operator):
        asked = len(device.evaluations)
        run(device, db, trials=1, operator=operator)
        return device.evaluations[asked]

    mended = replace(TOY, reference=lambda problem: emit(problem, "mended"))
    device.outcome = lambda schedule: Evaluation(Status.WRONG) if schedule == SEEDS[0] else None
    assert [tried_by(TOY), tried_by(TOY), tried_by(TOY)] == SEEDS
    device.outcome = None
    assert stale_problems(TOY, device, db) == []
    assert stale_problems(mended, device, db) == [PROBLEM]
    assert tried_by(mended) == SEEDS[0]
    assert tried_by(mended) not in SEEDS
    assert stale_problems(mended, device, db) == []


def test_a_kernel_whose_compiler_was_killed_is_tried_again(device, db, monkeypatch):
    killed, refused = CompilerKilledError("the compiler ended by SIGKILL, twice"), CompileError("toy.cu(1): error")
    monkeypatch.setattr(FakePool, "refused", staticmethod(lambda program: killed))
    first = [run(device, db, trials=1) for _ in range(2)]
    monkeypatch.setattr(FakePool, "refused", staticmethod(lambda program: refused))
    then = [run(device, db, trials=1) for _ in range(2)]
    assert [(result.known, *result.by_status) for result in [*first, *then]] == [
        (0, Status.CRASHED),
        (0, Status.CRASHED),
        (0, Status.COMPILE_ERROR),
        (1, Status.COMPILE_ERROR),
    ]


@pytest.mark.parametrize("schedule", [{"width": 16, "depth": 16}, {"height": 1}])
def test_an_imported_record_of_what_cannot_be_is_never_best(device, db, schedule):
    run(device, db, trials=1)
    (trial,) = db.trials()
    db.record(changed(trial, schedule=schedule, schedule_digest="imported", samples=(1e-9,)))
    result = run(device, db, trials=3)
    assert (result.known, result.evaluated) == (1, 3)
    assert result.best.seconds > 1e-9


def test_the_winner_of_another_program_is_tried_first(device, db):
    run(device, db, trials=12)
    best = db.best("toy", "n8", "NVIDIA H200")
    with TuningDB(db.location + "2") as others:
        others.record(changed(best, program_digest="0" * 64))
        run(device, others, trials=1)
    assert device.evaluations[-1].to_dict() == best.schedule


def test_only_records_of_the_kind_of_time_that_a_device_gives_are_stale_there(device, db):
    run(device, db, trials=1)
    device.environment = {"driver": "590"}
    assert stale_problems(TOY, device, db) == [PROBLEM]
    device.time_source = TimeSource.MODELLED
    assert stale_problems(TOY, device, db) == []


def test_winners_of_near_problems_come_first_where_they_are_legal(device, db):
    winners = {
        ToyProblem(64): ToySchedule(2, 2),
        ToyProblem(16): ToySchedule(4, 2, "column"),
        ToyProblem(8): ToySchedule(2, 4),
        ToyProblem(7): ToySchedule(4, 1, "column"),
        ToyProblem(8, turned=True): ToySchedule(2, 1, "column"),
    }
    run(device, db, trials=1)
    (trial,) = db.trials()
    with TuningDB(db.location + "2") as others:
        for problem, schedule in winners.items():
            record = changed(trial.problem, key=problem.key, fields=problem.to_dict())
            values = {"schedule": schedule.to_dict(), "schedule_digest": schedule.digest}
            others.record(changed(trial, problem=record, program_digest="0" * 64, **values))
        unreadable = changed(trial.problem, key="n8-old", fields={"n": "eight"})
        others.record(changed(trial, problem=unreadable))
        device.evaluations.clear()
        run(device, others, problem=ToyProblem(8, turned=True), trials=4)
    order = [ToyProblem(8, turned=True), ToyProblem(7), ToyProblem(16)]
    assert device.evaluations == [*(winners[problem] for problem in order), SEEDS[2]]


def test_what_the_time_model_finds_fastest_comes_first(device, db):
    slow, fast = ToySchedule(4, 2, "column"), SEEDS[2]

    def workload(problem, schedule, spec):
        return (Workload(132, Footprint(32), {slow: 1e9, fast: 1e7}.get(schedule, 1e8)),)

    run(device, db, trials=1)
    (trial,) = db.trials()
    with TuningDB(db.location + "2") as others:
        others.record(changed(trial, schedule=slow.to_dict(), schedule_digest=slow.digest))
        device.evaluations.clear()
        operator, options = TOY.with_kernels(workload=workload), TuneOptions(trials=4, compile_workers=2)
        tune(operator, ToyProblem(32), device, others, options)
    assert device.evaluations == [fast, *(seed for seed in SEEDS if seed != fast), slow][:4]


# ---- options ---------------------------------------------------------------------------------------------------------


test_bad_options_say_what_is_allowed = refused(
    TuneOptions,
    [
        ({"sampler": "best"}, "unknown sampler 'best'; known: bayes, tpe, random, nsga2, brute_force, gp"),
        ({"trials": 0}, "trials=0: expected 1 or more"),
        ({"trials": 1.5}, "TypeError: trials=1.5: expected a whole number"),
        ({"trials": True}, "TypeError: trials=True: expected a whole number"),
        ({"seed": 1.5}, "TypeError: seed=1.5: expected a whole number"),
        ({"compile_workers": "2"}, "TypeError: compile_workers='2': expected a whole number"),
        ({"seconds": "60"}, "TypeError: seconds='60': expected a number, or None"),
        ({"study": 3}, "TypeError: study=3: expected a name, or None"),
        ({"patience": 0}, "patience=0: expected 1 or more"),
        ({"patience": "5"}, "TypeError: patience='5': expected a whole number"),
        ({"seconds": 0.0}, "seconds=0.0: expected more than 0"),
        ({"seconds": float("nan")}, "seconds=nan: expected more than 0"),
        ({"seed": -1}, "seed=-1: expected 0 … 2147483647"),
        ({"compile_workers": 0}, "compile_workers=0: expected 1 or more"),
    ],
)


def test_importing_the_tuner_imports_neither_optuna_nor_sqlalchemy():
    code = "import sys, autotune.tuner; print(sorted({'optuna', 'sqlalchemy', 'cuda'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
