"""Who is verified, captured and sampled in which order, and what the samples say."""

import re
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event

import pytest
from bench_fakes import Session, baseline

from autotune.base.cuda_core import CUDAError
from autotune.bench import OWN, Baseline, Comparison, compare, time_limit
from autotune.bench.interleave import interleaved
from autotune.bench.time_limit import within
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.db import Status
from autotune.devices.base import DeviceError, Evaluation

WRONG = Evaluation(Status.WRONG, error="b: 3 of 9 elements")


@pytest.fixture
def session(no_gpu):
    return Session(TransposeProblem(1000, 1000))


def compared(session, **baselines):
    return compare(session, {OWN: "a kernel"}, baselines, rounds=4)


def test_turns_and_a_warm_up_that_does_not_count():
    taken = []

    def sample(launch):
        taken.append(launch)
        return float(len(taken))

    samples = interleaved({"a": "A", "b": "B", "c": "C"}, sample, rounds=2)
    assert "".join(taken) == 12 * "ABC"
    assert samples == {"a": (31.0, 34.0), "b": (32.0, 35.0), "c": (33.0, 36.0)}


def test_median_spread_and_ratio():
    comparison = Comparison({OWN: (1.0, 2.0, 3.0, 4.0, 90.0), "other": (6.0,) * 5})
    assert comparison.seconds(OWN) == 3
    assert comparison.spread("other") == 0
    assert comparison.spread(OWN) == pytest.approx((47 - 1.5) / 3)
    assert comparison.ratio("other") == 2
    assert comparison.ratio(OWN, to="other") == 0.5


def test_everyone_is_verified_before_and_after_the_samples(session):
    session.seconds = {OWN: 2e-3, "mover": 3e-3}
    comparison = compared(session, mover=baseline("mover"))
    turns = [("sample", OWN), ("sample", "mover")]
    verified = [("verify", OWN), ("verify", "mover")]
    assert session.log == [*verified, *14 * turns, *verified, ("freed", OWN)]
    assert comparison.samples == {OWN: (2e-3,) * 4, "mover": (3e-3,) * 4}
    assert comparison.ratio("mover") == 1.5


@pytest.mark.parametrize("replayed", [False, True])
def test_who_is_not_verified_need_not_be_right_and_may_be_replayed(session, replayed):
    session.verdicts["any"] = [WRONG]
    compared(session, any=baseline("any", verified=False, replayed=replayed))
    assert session.log[-2:] == [("verify", OWN), ("freed", OWN)]
    assert session.replayed == {OWN, *(["any"] if replayed else [])}


def test_who_cannot_be_replayed_may_be_verified(session):
    session.verdicts["called"] = [WRONG]
    comparison = compared(session, called=baseline("called", replayed=False))
    assert comparison.failed == {"called": "wrong, b: 3 of 9 elements"}
    assert session.replayed == {OWN}


@pytest.mark.parametrize("verdicts", [[WRONG], [Evaluation(Status.OK), WRONG]])
def test_a_wrong_kernel_is_named(session, verdicts):
    session.verdicts[OWN] = list(verdicts)
    with pytest.raises(DeviceError, match=rf"^{OWN}: wrong, b: 3 of 9 elements$"):
        compared(session, mover=baseline("mover"))


@pytest.mark.parametrize("verdicts", [[WRONG], [Evaluation(Status.OK), WRONG]])
def test_a_wrong_baseline_takes_no_figure_from_the_others(session, verdicts):
    session.verdicts["mover"] = list(verdicts)
    comparison = compared(session, mover=baseline("mover"), copy=baseline("copy", verified=False, replayed=False))
    assert comparison.failed == {"mover": "wrong, b: 3 of 9 elements"}
    assert comparison.samples == {OWN: (1e-3,) * 4, "copy": (1e-3,) * 4}
    assert comparison.ratios(["mover", "copy"]) == {"copy": 1}


def test_a_time_that_cannot_be_true_is_no_figure(session):
    session.problem = TransposeProblem(10000, 10000)
    session.seconds = {"mover": 1e-6}
    comparison = compared(session, mover=baseline("mover"))
    assert list(comparison.samples) == [OWN]
    assert re.fullmatch(r"wrong, .* above the device's bandwidth of 4800 GB/s", comparison.failed["mover"])


def test_whatever_a_library_raises_is_one_line(session):
    broken = baseline("mover", error=RuntimeError("no kernel image\n  at line 1"))
    comparison = compared(session, mover=broken)
    assert comparison.failed == {"mover": "RuntimeError: no kernel image"}
    assert session.log == [("verify", OWN), *14 * [("sample", OWN)], ("verify", OWN), ("freed", OWN)]


def test_a_baseline_that_hangs_takes_no_figure_from_the_others(session, monkeypatch):
    monkeypatch.setattr("autotune.bench.comparison._BASELINE_SECONDS", 0.05)

    @contextmanager
    def prepare(session):
        Event().wait(5)
        with baseline("mover").prepare(session) as prepared:
            yield prepared

    comparison = compared(
        session,
        mover=Baseline("", True, True, str, dict, prepare),
        copy=baseline("copy", verified=False, replayed=False),
    )
    assert comparison.failed == {"mover": "TimeoutError: no result within 0.05 s"}
    assert comparison.ratios(["mover", "copy"]) == {"copy": 1}


def test_what_cuda_refuses_a_baseline_ends_the_comparison(session):
    with pytest.raises(DeviceError, match=r"^mover: "):
        compared(session, mover=baseline("mover", error=CUDAError("CUDA_ERROR_ILLEGAL_ADDRESS: lost")))


def test_a_block_that_waits_is_interrupted():
    with pytest.raises(TimeoutError, match=r"^no result within 0\.05 s$"), within(0.05):
        Event().wait(5)


def test_a_block_that_goes_on_is_interrupted_again(monkeypatch):
    monkeypatch.setattr(time_limit, "_AGAIN_SECONDS", 0.05)
    with pytest.raises(TimeoutError), within(0.05):
        with suppress(TimeoutError):
            Event().wait(5)
        Event().wait(2)


def test_an_interruption_is_told_as_one_whatever_a_library_makes_of_it():
    with pytest.raises(TimeoutError, match=r"^no result within"), within(0.05):
        try:
            Event().wait(5)
        except TimeoutError as error:
            raise RuntimeError("the backend raised") from error


def test_an_error_in_time_stays_what_it_is():
    with pytest.raises(RuntimeError, match="no kernel"), within(5):
        raise RuntimeError("no kernel")


def test_a_block_in_time_is_not_interrupted_later():
    before = signal.getsignal(signal.SIGALRM)
    with within(5):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_thread_has_no_limit():
    def timer():
        with within(5):
            return signal.getitimer(signal.ITIMER_REAL)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(timer).result() == (0, 0)
