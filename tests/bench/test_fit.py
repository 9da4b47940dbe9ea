"""Coefficients that are fitted to times, and how well the model that takes them orders schedules."""

from dataclasses import replace

import pytest
from factories import SPEC

from autotune.bench.fit import fitted, judged
from autotune.bench.time_model import FIRST, quality
from autotune.bench.timed_schedules import Timed, operators_of, with_candidates
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.devices.recording import Recording
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.contract.restriction import sample
from autotune.search_spaces.layout.transpose.workload import Costs
from autotune.search_spaces.machine.coefficients import read_file, trying, write_section
from autotune.search_spaces.machine.devices import named_device

H200, TRANSPOSE = named_device("h200"), operator("transpose")
NOW = Costs.of(H200)
PROBLEMS = [TransposeProblem(m, n) for m in (2048, 4000, 8192) for n in (2048, 3000, 4096, 6000)]


def measured(costs, most=8):
    """The first seeds of each problem, with the times that they take by these coefficients."""
    with trying(costs):
        found = [
            Timed(TRANSPOSE, problem, schedule.shape_generic, H200, 1.0)
            for problem in PROBLEMS
            for schedule in TRANSPOSE.seeds(problem, H200)[:most]
        ]
        return [replace(one, seconds=one.modelled) for one in dict.fromkeys(found)]


def test_coefficients_that_made_the_times_are_found_and_judged_by_held_out_problems():
    truth = replace(NOW, row_stored=6 * NOW.row_stored)
    found = fitted("transpose", measured(truth, most=16), {"modelled": 7})
    assert found.values["row_stored"] == pytest.approx(truth.row_stored, rel=0.35)
    before, after = found.held_out
    assert (before.problems + found.fitted[0].problems, found.better) == (len(PROBLEMS), True)
    assert after.error - 1 < (before.error - 1) / 2
    assert found.left_out == {"modelled": 7}


def test_a_fit_of_what_is_right_already_writes_nothing():
    found = fitted("transpose", measured(NOW, most=3), {})
    assert not found.better
    assert found.held_out[0].error == pytest.approx(1.0)


def test_a_candidate_without_a_time_counts_only_if_it_is_modelled_faster_than_the_fastest():
    one = max(measured(NOW)[:8], key=lambda one: one.seconds)
    slow = replace(one, seconds=2 * one.seconds)
    candidates = [other for other in with_candidates([slow], "transpose") if other.candidate]
    assert slow.schedule not in [other.schedule for other in candidates]
    assert {other.seconds for other in candidates} == {slow.seconds}
    assert judged([slow, replace(slow, candidate=True)]).overtaken == pytest.approx(1.0)
    assert judged([slow, *candidates]).overtaken > 1


def test_what_the_model_is_wrong_about_all_schedules_of_a_problem_alike_counts_little():
    known = measured(NOW, most=3)
    alike = judged([replace(one, seconds=2 * one.seconds) for one in known])
    apart = judged([replace(one, seconds=2.0 ** (-1) ** number * one.seconds) for number, one in enumerate(known)])
    assert 1 < alike.error < apart.error


def test_a_section_is_of_the_operators_that_count_with_it():
    assert operators_of("norm") == ["rms_norm", "layer_norm"]
    assert len(operators_of("machine")) > 10
    with pytest.raises(ValueError, match=r"unknown section 'speed'; known: .*softmax"):
        operators_of("speed")


def test_a_section_is_written_beside_others(tmp_path):
    path = tmp_path / "sm_90.json"
    write_section(path, "softmax", "nothing", {"element": 2.0, "access": 1.0})
    write_section(path, "rows", "nothing", {"cluster": 3.0})
    write_section(path, "softmax", "9 schedules", {"element": 4.0})
    assert read_file(path) == {"softmax": {"element": 4.0, "access": 1.0}, "rows": {"cluster": 3.0}}


SGEMM = operator("sgemm")
PROBLEM = SGEMM.problem_type(1024, 1024, 1024)


def modelled():
    schedules = sample(SGEMM, PROBLEM, SPEC, SGEMM.space(PROBLEM, SPEC), 60, seed=0)
    return {schedule: modelled_seconds(SGEMM, PROBLEM, schedule, SPEC) for schedule in schedules}


def recorded(seconds):
    """A recording, held in memory."""
    recording = object.__new__(Recording)
    recording.__dict__.update(operator=SGEMM, problem=PROBLEM, spec=SPEC, seconds=seconds)
    return recording


def test_what_the_model_says_it_orders_perfectly_whatever_the_clock():
    found = quality(recorded({schedule: 2 * seconds for schedule, seconds in modelled().items()}))
    assert (found.rank_correlation, found.regret, found.level) == (pytest.approx(1), 0, pytest.approx(1 / 2))
    assert found.spread == pytest.approx(0, abs=1e-9)


def test_regret_is_of_the_best_among_the_first_ten():
    times = {schedule: 1 / seconds for schedule, seconds in modelled().items()}
    found, slowest_first = quality(recorded(times)), sorted(times.values(), reverse=True)
    assert found.rank_correlation == pytest.approx(-1)
    assert found.regret == pytest.approx(slowest_first[FIRST - 1] / min(times.values()) - 1)


def test_the_spread_is_of_logarithms():
    factors = (2.0, 8.0)
    times = {s: seconds * factors[n % 2] for n, (s, seconds) in enumerate(modelled().items())}
    assert quality(recorded(times)).spread == pytest.approx(0.693147, rel=1e-4)
