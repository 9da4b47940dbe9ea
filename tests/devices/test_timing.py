"""Warm-up, number of samples and impossible rates, on fake clocks and kernels."""

from dataclasses import replace
from itertools import chain, repeat

import pytest
from scale import Claim

from autotune.codegen.model.work import Unit
from autotune.devices.timing import measure, time_limit, warm_up
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.roofline import bounding_unit, impossible_rate, roofline

H200 = named_device("h200")


class Bench:
    """Launches that take what `times` says, each `host` seconds longer on the host's clock."""

    def __init__(self, times, host=20e-6):
        self.samples = []
        self.clock = 0.0
        self._times = times
        self._host = host

    def sample(self):
        assert len(self.samples) < 50_000, "it launches for ever"
        self.samples.append(next(self._times))
        self.clock += self.samples[-1] + self._host
        return self.samples[-1]

    def now(self):
        return self.clock


@pytest.mark.parametrize(
    ("seconds", "count"), [(5e-6, 100), (1e-3, 100), (2e-3, 50), (2.7e-3, 38), (10e-3, 10), (50e-3, 10), (2.0, 10)]
)
def test_samples_take_about_100_ms_but_are_10_to_100(seconds, count):
    bench = Bench(repeat(seconds))
    batches = []
    measured = measure(bench.sample, bench.now, lambda newest: batches.append(len(newest)) is not None)
    assert measured.samples == (seconds,) * count
    assert sum(batches) == count, "each is told once"


def test_samples_of_a_slowed_clock_are_taken_again():
    bench = Bench(repeat(1e-3))
    states = chain([True, False, True], repeat(False))
    slow = iter([2e-3] * 20)
    held_down = False

    def slowed_down():
        nonlocal held_down
        held_down = next(states)
        return held_down

    taken = []

    def sample():
        taken.append(bench.sample())
        return next(slow) if len(taken) in range(26, 46) else taken[-1]

    # The warm-up takes 25 samples; the ten that follow are slow, as is the beginning of the next warm-up.
    assert measure(sample, bench.now, slowed_down=slowed_down).samples == (1e-3,) * 100


def test_a_clock_that_stays_down_does_not_hold_up_the_run():
    bench = Bench(repeat(1e-3))
    assert measure(bench.sample, bench.now, slowed_down=lambda: True).samples == (1e-3,) * 100


def test_an_empty_launch_that_takes_no_time_is_timed_all_the_same():
    bench = Bench(repeat(0.0))
    assert measure(bench.sample, bench.now).samples == (0.0,) * 100


def test_warm_up_waits_for_the_clock_to_ramp_up():
    ramp = [1e-3 * 0.95**i for i in range(60)]
    bench = Bench(chain(ramp, repeat(ramp[-1])))
    assert warm_up(bench.sample, bench.now) == ramp[-1]


def test_equal_medians_prove_nothing_before_a_clock_can_have_ramped_up():
    bench = Bench(chain(repeat(9e-6, 500), repeat(5e-6)))
    assert warm_up(bench.sample, bench.now) == 5e-6
    assert bench.clock >= 0.025


def test_warm_up_gives_up_on_a_clock_that_is_never_steady():
    def swinging():
        while True:
            yield from repeat(1e-3, 5)
            yield from repeat(2e-3, 5)

    bench = Bench(swinging())
    warm_up(bench.sample, bench.now)
    assert 0.5 <= bench.clock < 0.6


def test_warm_up_launches_slow_kernels_no_more_than_it_must():
    bench = Bench(repeat(1.0))
    assert warm_up(bench.sample, bench.now) == 1.0
    assert len(bench.samples) == 2


def rate(claim, seconds):
    return impossible_rate(claim, seconds, H200)


def test_a_rate_above_the_peak_is_impossible():
    second = int(H200.peak(Unit.FP32))
    assert rate(Claim(claimed_operations=second), 1.0) == ""
    assert rate(Claim(claimed_operations=2 * second), 1.0) == (
        f"133.8 TFLOP/s of FP32 for {2 * second} FLOP is above the device's peak of 66.9"
    )
    assert rate(Claim(claimed_operations=second + 10), 1.0)
    assert "above the device's peak" in rate(Claim(claimed_operations=1), 0.0)


def test_a_rate_is_judged_by_the_peak_of_its_unit():
    fast = 12 * int(H200.peak(Unit.FP32))
    assert "TFLOP/s of FP32 for" in rate(Claim(claimed_operations=fast), 1.0)
    assert rate(Claim(claimed_operations=fast, claimed_unit=Unit.TENSOR_FP16), 1.0) == ""
    assert "TFLOP/s of FP16 tensor cores for" in rate(
        Claim(claimed_operations=2 * fast, claimed_unit=Unit.TENSOR_FP16), 1.0
    )


def test_special_functions_may_be_computed_by_other_units():
    fast = 2 * int(H200.peak(Unit.SPECIAL))
    assert rate(Claim(claimed_operations=fast, claimed_unit=Unit.SPECIAL), 1.0) == ""


def test_the_busiest_unit_or_memory_bounds_a_problem():
    second = int(H200.peak(Unit.TENSOR_FP16))
    problem = Claim(claimed_operations=second, claimed_unit=Unit.TENSOR_FP16, claimed_bytes=int(H200.bandwidth / 2))
    assert (roofline(problem, H200), bounding_unit(problem, H200)) == (pytest.approx(1.0), Unit.TENSOR_FP16)
    moving = replace(problem, claimed_bytes=int(2 * H200.bandwidth))
    assert (roofline(moving, H200), bounding_unit(moving, H200)) == (pytest.approx(2.0), None)


def test_a_rate_above_the_bandwidth_is_impossible_beyond_what_the_cache_may_hold():
    second = int(H200.bandwidth)
    assert rate(Claim(claimed_bytes=second + H200.l2_bytes), 1.0) == ""
    assert "4800 GB/s" in rate(Claim(claimed_bytes=second + H200.l2_bytes + 1), 1.0)
    assert rate(Claim(claimed_bytes=H200.l2_bytes), 1e-9) == ""
    assert "above the device's bandwidth" in rate(Claim(claimed_bytes=H200.l2_bytes + 1), 0.0)


def test_nothing_to_do_in_no_time_is_possible():
    assert rate(Claim(), 0.0) == ""


def test_a_kernel_may_take_a_hundred_times_as_long_as_the_device_needs():
    small, large = (operator("sgemm").problem_type(n, n, n) for n in (64, 8192))
    for problem in (small, large):
        evaluation = 16 * 100 * roofline(problem, H200)
        assert evaluation < time_limit(problem, H200) < 60 + 2 * evaluation
