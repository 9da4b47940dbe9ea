"""Comparing searches: what is counted, and that each search does what its name says."""

import json
from ast import literal_eval
from dataclasses import replace
from importlib import import_module
from itertools import islice
from math import inf
from unittest.mock import Mock

import pytest
from factories import PROBLEM, SPEC, recording, schedules, seconds, trials

from autotune.base.errors import InputError
from autotune.bench.search import SEARCHERS, compare_searches, missing
from autotune.bench.search.compare import Found, near_after
from autotune.bench.search.kernel_tuner import cache_document, simulated, t4_document
from autotune.bench.search.t1 import t1_document
from autotune.db import Status
from autotune.db.recording import write_recording
from autotune.devices.recording import load
from autotune.search_spaces.contract.modelled_time import likely_first

OWN = [name for name in SEARCHERS if not name.startswith("kernel_tuner.")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return recording(tmp_path_factory.mktemp("recording") / "r.jsonl.gz", 30)


@pytest.fixture(scope="module")
def recorded(path):
    return load(path)


@pytest.mark.parametrize(
    ("times", "counts"),
    [
        ([3.0, 1.04, 1.009, 1.0], (2, 3)),
        ([1.0], (1, 1)),
        ([2.0, 1.05], (2, inf)),
        ([inf, 2.0], (inf, inf)),
        ([2.0] * 5 + [1.0], (inf, inf)),
    ],
)
def test_near_is_within_five_and_one_percent_and_the_budget(times, counts):
    assert near_after(iter(times), 1.0, budget=5) == counts


def test_no_more_is_asked_for_than_needed():
    times = iter([2.0, 1.0, 1.0, 1.0])
    near_after(times, 1.0, budget=10)
    assert len(list(times)) == 2


def test_quartiles_are_counts_and_infinite_ones_are_last():
    assert Found((5, 1, 4, 2, 3)).quartiles == (2, 3, 4)
    assert Found((inf, 1, inf, 2, inf)).quartiles == (2, inf, inf)
    assert Found((inf, 1, inf, 2, inf)).reached == 2
    assert Found((7,)).quartiles == (7, 7, 7)


@pytest.mark.parametrize("ahead", [1, 8])
@pytest.mark.parametrize("name", OWN)
def test_a_search_evaluates_every_recorded_schedule_once(tmp_path, name, ahead):
    few = load(recording(tmp_path / "few.jsonl.gz", 15))
    found = list(SEARCHERS[name](few, 0, 200, ahead))
    assert sorted(found) == sorted(few.seconds.values())
    assert found[:12] == list(islice(SEARCHERS[name](few, 0, 200, ahead), 12))
    # All of a small space is in the pool of Bayesian optimisation, so that nothing is left to chance.
    assert (found != list(SEARCHERS[name](few, 1, 200, ahead))) == (name in ("tpe", "random"))


def test_the_default_begins_with_the_seeds_and_the_others_do_not(recorded):
    ordered = likely_first(recorded.operator, PROBLEM, recorded.operator.seeds(PROBLEM, SPEC), SPEC)
    seeds = [seconds(seed) for seed in ordered]
    assert len(seeds) > 5
    assert list(islice(SEARCHERS["bayes"](recorded, 0, 200, 1), len(seeds))) == seeds
    assert list(islice(SEARCHERS["unseeded"](recorded, 0, 200, 1), len(seeds))) != seeds


def test_failures_take_forever(tmp_path):
    good, bad = trials(schedules(2))
    write_recording(tmp_path / "r", [good, replace(bad, status=Status.WRONG)])
    recorded = load(tmp_path / "r")
    assert all(sorted(SEARCHERS[name](recorded, 0, 200, 1)) == [good.seconds, inf] for name in OWN)


def test_a_comparison_is_of_every_search_and_recording(path, recorded):
    results = []
    compare_searches([path], ["random", "tpe"], seeds=3, budget=60, ahead=1, on_result=results.append)
    assert [(result.recording, result.searcher) for result in results] == [(path, "random"), (path, "tpe")]
    for result in results:
        counts = [near_after(SEARCHERS[result.searcher](recorded, s, 60, 1), recorded.optimum, 60) for s in range(3)]
        assert [found.evaluations for found in result.found] == list(zip(*counts, strict=True))


def test_an_interruption_ends_its_processes(path, monkeypatch):
    child = Mock()
    monkeypatch.setattr(import_module("autotune.bench.search.compare"), "active_children", lambda: [child])

    def interrupted(_result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_searches([path], ["random"], seeds=1, budget=2, ahead=1, on_result=interrupted)
    child.terminate.assert_called_once_with()


# ---- Kernel Tuner ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A recording with failures."""
    path = tmp_path_factory.mktemp("mixed") / "r.jsonl.gz"
    statuses = [Status.OK] * 12 + [Status.WRONG, Status.COMPILE_ERROR, Status.LAUNCH_ERROR, Status.TIMEOUT]
    listed = trials(schedules(len(statuses)))
    write_recording(path, [replace(one, status=status) for one, status in zip(listed, statuses, strict=True)])
    return load(path)


def test_the_cache_has_each_configuration_in_milliseconds(mixed):
    document = json.loads(json.dumps(cache_document(mixed)))
    names = document["tune_params_keys"]
    assert len(document["cache"]) == 16
    for (key, result), (schedule, trial) in zip(document["cache"].items(), mixed.trials.items(), strict=True):
        assert key == ",".join(str(result[name]) for name in names)
        assert all(result[name] in document["tune_params"][name] for name in names)
        if trial.status is Status.OK:
            assert result["time"] == pytest.approx(1e3 * seconds(schedule))
        else:
            assert result["__error__"] in ("CompilationFailedConfig", "RuntimeFailedConfig")


def test_t4_says_what_became_of_each_configuration(mixed):
    document = json.loads(json.dumps(t4_document(mixed)))
    words = [result["invalidity"] for result in document["results"]]
    assert words == ["correct"] * 12 + ["correctness", "compile", "runtime", "timeout"]
    first = document["results"][0]
    assert first["times"]["runtimes"] == [pytest.approx(1e3 * seconds(next(iter(mixed.trials))))]
    assert first["measurements"][0]["unit"] == "ms"


def test_t4_passes_the_schema(mixed):
    file_utils = pytest.importorskip("kernel_tuner.file_utils")
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(t4_document(mixed), file_utils.output_file_schema("results")[1])


def test_kernel_tuner_runs_on_a_recording(recorded, mixed):
    pytest.importorskip("kernel_tuner")
    found = simulated(recorded, "random_sample", seed=0, budget=20)
    assert len(found) == 20
    assert {round(time, 9) for time in found} <= {round(time, 9) for time in recorded.seconds.values()}
    assert len(simulated(mixed, "random_sample", seed=0, budget=20)) <= 12


def test_a_recording_that_is_too_small_for_a_strategy_is_named(tmp_path):
    pytest.importorskip("kernel_tuner")
    with pytest.raises(InputError, match=r"^kernel_tuner.bayes_opt cannot search 4 schedules: \S"):
        simulated(load(recording(tmp_path / "r.jsonl.gz", 4)), "bayes_opt", seed=0, budget=4)


def test_a_missing_kernel_tuner_is_named_with_the_remedy(monkeypatch):
    from autotune.bench.search import searchers

    monkeypatch.setattr(searchers, "find_spec", lambda name: None)
    assert "pip install 'autotune[kernel-tuner]'" in missing("kernel_tuner.pso")
    assert missing("random") == ""


TYPES = {"bool": bool, "int": int, "string": str}


def test_the_space_and_the_fastest_kernel_are_described(tmp_path):
    loaded = load(recording(tmp_path / "recording.jsonl.gz", 8))
    document = t1_document(loaded)
    space = loaded.operator.space(loaded.problem, loaded.spec)
    described = document["ConfigurationSpace"]["TuningParameters"]
    assert [one["Name"] for one in described] == [parameter.name for parameter in space.parameters]
    for one, parameter in zip(described, space.parameters, strict=True):
        values = literal_eval(one["Values"])
        assert values == list(parameter.values)
        assert {type(value) for value in values} == {TYPES[one["Type"]]}
    fastest = min(loaded.seconds, key=lambda schedule: loaded.seconds[schedule])
    (launch,) = loaded.operator.program(loaded.problem, fastest, loaded.spec).launches
    kernel = document["KernelSpecification"]
    assert kernel["KernelName"] == launch.entry
    assert kernel["GlobalSize"] == dict(zip("XYZ", map(str, launch.grid), strict=True))
    assert kernel["LocalSize"] == dict(zip("XYZ", map(str, launch.block), strict=True))
    assert {"Language", "KernelName", "KernelFile", "GlobalSize", "LocalSize"} <= set(kernel)  # which T1 requires
