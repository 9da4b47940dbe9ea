"""What Kernel Tuner has measured becomes a recording of a kernel with the same parameters."""

import json

import pytest
from cli.conftest import autotune, cache, environment  # noqa: F401

from autotune import t1_space
from autotune.bench.search.foreign_trials import foreign_trials
from autotune.db.recording import write_recording
from autotune.db.states import Status
from autotune.devices.recording import load
from autotune.own_kernels.load import declared_in
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")


def result(time, unit="ms", invalidity="correct", **configuration):
    return {
        "configuration": configuration,
        "times": {"runtimes": [1.0]},
        "invalidity": invalidity,
        "measurements": [{"name": "time", "value": time, "unit": unit}],
    }


@pytest.fixture
def read(tmp_path, written):
    """``read(*results)`` are the trials of a T4 file of these results, of the vector addition."""
    operator = declared_in(str(written()))

    def read(*results, n=10_000_000):
        path = tmp_path / "results.json"
        path.write_text(json.dumps({"results": results, "metadata": {"timeunit": "milliseconds"}}))
        return foreign_trials(path, operator, operator.problem_type(n), H200)

    return read


def test_results_become_a_recording(read, tmp_path):
    trials = read(
        result(0.05, block_size=64, per_thread=1),
        result(6e-5, "seconds", block_size=128, per_thread=1),
        result("CompilationFailedConfig", invalidity="compile", block_size=1024, per_thread=1),
    )
    write_recording(tmp_path / "of.jsonl.gz", trials)
    recording = load(tmp_path / "of.jsonl.gz")
    found = {schedule.block_size: trial for schedule, trial in recording.trials.items()}
    assert {size: trial.seconds for size, trial in found.items()} == pytest.approx({64: 5e-5, 128: 6e-5, 1024: None})
    assert found[1024].status is Status.LAUNCH_ERROR
    assert {schedule.per_thread for schedule in recording.trials} == {1}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"block_size": 48}, "block_size=48 of the schedule: expected one of 32, 64"),
        ({"block_size": "64; evil"}, "parameter block_size has values of several types"),
        ({"tile": 3}, "has a parameter tile: vector_add has block_size, per_thread"),
        ({"time": 1e-4}, "block_size=64 per_thread=1: .* is above the device's bandwidth"),
    ],
)
def test_what_cannot_be_of_this_kernel_is_refused(read, changes, error):
    time, own = changes.pop("time", 0.05), {"block_size": 64, **changes}
    others = dict.fromkeys(own.keys() - {"block_size"}, 4)
    with pytest.raises(ValueError, match=error):
        read(result(time, **own), result(0.07, **{"block_size": 128, **others}))


def test_a_file_of_results_is_converted(autotune, written, tmp_path):  # noqa: F811
    results, output = tmp_path / "results.json", tmp_path / "of.jsonl.gz"
    results.write_text(json.dumps({"results": [result(5.0 / n, block_size=64, per_thread=n) for n in (1, 2)]}))
    command = ["convert", str(results), "--from", "t4", "--operator", str(written()), "--device", "h200"]
    done = autotune(*command, "--problem", "n=1000000", "-o", str(output))
    assert done.code == 0, done.stderr
    recording = load(output)
    assert recording.problem.key == "n1000000"
    assert sorted(recording.seconds.values()) == pytest.approx([0.0025, 0.005])


def test_a_described_space_is_that_of_a_kernel(written, tmp_path):
    path = tmp_path / "t1.json"
    path.write_text(
        json.dumps(
            {
                "ConfigurationSpace": {
                    "TuningParameters": [
                        {"Name": "block_size", "Type": "int", "Values": "[32, 64, 2048]"},
                        {"Name": "per_thread", "Type": "int", "Values": "[1, 2]"},
                    ],
                    "Conditions": [{"Expression": "block_size * per_thread <= 64", "Parameters": ["block_size"]}],
                }
            }
        )
    )
    listed = 'parameters={"block_size": [32, 64, 128, 256, 512, 1024], "per_thread": [1, 2, 4]},'
    operator = declared_in(str(written(change=(listed, f'**autotune.t1_space("{path}"),'))))
    problem = operator.problem_type(1000)
    draws = operator.space(problem, H200).all_draws()
    legal = [draw for draw in draws if not operator.violations(problem, operator.schedule(dict(draw)), H200)]
    assert [tuple(draw.values()) for draw in legal] == [(32, 1), (32, 2), (64, 1)]


@pytest.mark.parametrize(
    "space", ["[]", "{}", '{"ConfigurationSpace": {"TuningParameters": [{"Name": "x", "Values": "__import__(1)"}]}}']
)
def test_what_describes_no_space_is_refused(tmp_path, space):
    (tmp_path / "t1.json").write_text(space)
    with pytest.raises(ValueError, match="is no search space of T1"):
        t1_space(tmp_path / "t1.json")
