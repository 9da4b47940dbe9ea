"""Held-out problems: who may see what, and how regrets are counted."""

import pytest
from dispatcher.records import H200, SGEMM, problem, schedule

from autotune.bench.dispatch.held_out import held_out, modelled, regrets
from autotune.bench.dispatch.process_start import first_call, own_seconds
from autotune.bench.dispatch.random_sizes import RandomSize, losses, random_sizes, with_rivals
from autotune.db import TimeSource
from autotune.devices.base import DeviceError
from autotune.dispatcher.choice.choose import choices
from autotune.dispatcher.choice.records import Record
from autotune.dispatcher.choice.rule import Rule

KNOWN = [
    Record(problem(m), schedule(number, problem(m)), 1e-5 * m / 512, TimeSource.MEASURED)
    for number, m in enumerate((512, 544, 576, 608, 640, 672))
]


def test_each_split_chooses_for_a_third_by_the_records_of_the_rest():
    cases = held_out(SGEMM, KNOWN, H200, splits=20)
    assert [case.split for case in cases] == [split for split in range(20) for _ in range(2)]
    assert {case.record.problem.key for case in cases} == {record.problem.key for record in KNOWN}
    for split in range(20):
        left_out = {case.record.problem.key for case in cases if case.split == split}
        used = {case.choice.record for case in cases if case.split == split}
        assert len(left_out) == 2
        assert left_out.isdisjoint(used)
    assert all(case.choice.rule is Rule.NEAREST for case in cases)


def test_the_regret_is_against_the_own_record_and_everything_is_measured_once():
    cases, asked = held_out(SGEMM, KNOWN, H200, splits=5), []

    def measure(wanted, schedules):
        asked.append(wanted)
        assert len(set(schedules)) == len(schedules) > 1
        return [1.0 + 0.25 * min(1, number) for number in range(len(schedules))]

    found = [case for same in regrets(cases, measure) for case in same]
    assert len(asked) == len(set(asked))
    assert len(found) == len(cases)
    assert all(case.regret == pytest.approx(0.25) for case in found)


def test_a_problem_that_fails_leaves_its_reason():
    def measure(wanted, schedules):
        raise DeviceError("out of memory")

    cases = held_out(SGEMM, KNOWN, H200, splits=1)
    found = [case for same in regrets(cases, measure) for case in same]
    assert [(case.regret, case.error) for case in found] == [(None, "out of memory")] * 2


def test_an_offline_device_models_the_times():
    wanted = problem(512)
    large = SGEMM.default(problem(8192, 8192), H200)
    first, second = modelled(SGEMM, H200)(wanted, [SGEMM.default(wanted, H200), large])
    assert 0 < first < second


def test_random_sizes_are_the_same_ones_each_time_and_of_every_order_of_magnitude():
    drawn = random_sizes(SGEMM, KNOWN, H200, 60)
    assert drawn == random_sizes(SGEMM, KNOWN, H200, 60)
    sizes = [size for case in drawn for size in (case.problem.m, case.problem.n, case.problem.k)]
    assert all(1 <= size <= 8192 for size in sizes)
    assert all(any(low <= size < 8 * low for size in sizes) for low in (1, 8, 64, 512))


def test_the_loss_is_against_the_fastest_of_the_choice_and_its_rivals():
    near = problem(520)
    case = RandomSize(near, next(choices(SGEMM, near, H200, KNOWN)))
    case = with_rivals(SGEMM, case, KNOWN, H200)
    assert case.choice.schedule not in case.rivals
    assert {record.schedule for record in KNOWN[1:]} <= {*case.rivals}
    assert len(case.rivals) > len(KNOWN)

    def measure(wanted, schedules):
        alone = case.choice.schedule.shape_specialized
        assert (wanted, *schedules) == (near, case.choice.schedule, alone, *case.rivals)
        return [1.5e-3, 1.26e-3, 2e-3, *(1.2e-3 for _ in schedules[3:])]

    (found,) = losses([case], measure)
    assert (found.loss, found.warmed) == (pytest.approx(0.25), pytest.approx(0.05))
    (alone,) = losses([RandomSize(near, case.choice)], lambda *_: [1e-3, 1e-3])
    assert (alone.loss, alone.warmed) == (0, 0)


def test_a_random_size_that_fails_leaves_its_reason():
    def measure(wanted, schedules):
        raise DeviceError("out of memory")

    (found,) = losses(random_sizes(SGEMM, KNOWN, H200, 1), measure)
    assert (found.loss, found.error) == (None, "out of memory")


@pytest.mark.gpu
def test_the_parts_of_a_first_call_begin_with_pythons_start_and_end_with_the_launch():
    parts = first_call(SGEMM, SGEMM.problem_type(64, 64, 64), None)
    assert (next(iter(parts)), [*parts][-1]) == ("Python's start", "launch")
    assert 0 < own_seconds(parts) < sum(parts.values())
