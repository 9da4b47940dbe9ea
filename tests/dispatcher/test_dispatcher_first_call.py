"""What the first call of a problem measures, what it must not touch, and what serves from then on."""

import pytest
from dispatcher.records import H200, SGEMM, problem, schedule, trial
from fake_gpu import CAPTURED, A, B, C, FakeTensor

from autotune import dispatcher
from autotune.dispatcher.calls import first_call, function
from autotune.dispatcher.calls import plan as plans
from autotune.dispatcher.choice import first_calls
from autotune.dispatcher.choice.modelled import ranked
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.lock import document

PROBLEM = problem(512)
FIRST, SECOND, THIRD = list(ranked(SGEMM, PROBLEM, H200))[:3]


@pytest.fixture(autouse=True)
def timed(gpu, monkeypatch):
    """A program that asks for it, on a GPU whose clock goes on while it launches."""
    monkeypatch.setattr(first_call, "monotonic", lambda: gpu.now)
    dispatcher.configure(tune="first-call")
    return gpu


def text(chosen):
    """What the text of a schedule's kernel has, and no other's."""
    source = SGEMM.program(PROBLEM, chosen, H200).source
    return source[source.index("struct Schedule") : source.index("};", source.index("struct Schedule"))]


def call(m=512, stream=None, **options):
    a, b, c = FakeTensor(A, (m, 512)), FakeTensor(B, (512, 512)), FakeTensor(C, (m, 512))
    dispatcher.sgemm(a, b, out=c, stream=stream, **options)
    return plans.all_chosen()[-1].choice


def new_process():
    plans._plans.clear()
    function.clear()


def test_the_fastest_of_three_serves_from_the_first_call_on(timed):
    timed.takes = {text(FIRST): 3e-5, text(SECOND): 2e-5, text(THIRD): 1e-5}
    chosen = call()
    assert (chosen.rule, chosen.schedule) == (Rule.FIRST_CALL, THIRD)
    assert chosen.seconds == pytest.approx(1e-5)
    assert len(timed.loaded) == 3
    assert 0.04 < timed.now <= 0.05
    assert text(THIRD) in timed.kernels[-1]
    launched = len(timed.launched)
    call()
    assert (len(timed.launched), text(THIRD) in timed.kernels[-1]) == (launched + 1, True)


def test_later_processes_know_it(timed, monkeypatch):
    timed.takes = {text(FIRST): 3e-5, text(SECOND): 1e-5, text(THIRD): 2e-5}
    call()
    new_process()
    before = len(timed.launched)
    assert (call().schedule, len(timed.launched)) == (SECOND, before + 1)
    new_process()
    dispatcher.configure()
    assert call().rule is Rule.MODEL
    new_process()
    dispatcher.configure(tune="first-call")
    first_calls._file().write_text(first_calls._file().read_text().replace('"program": "', '"program": "0'))
    assert (call().schedule, len(timed.launched) > before + 10) == (SECOND, True)  # measured again


def test_records_take_part_and_a_record_of_its_own_is_not_measured(timed, database):
    near = schedule(0, PROBLEM)
    database.record(trial(problem(544), near, seconds=1e-3))
    timed.takes = {text(FIRST): 2e-5, text(SECOND): 2e-5, "raster_group = 100": 1e-5}
    assert call().schedule == near
    new_process()
    database.record(trial(PROBLEM, schedule(1, PROBLEM)))
    before = len(timed.launched)
    assert (call().rule, len(timed.launched)) == (Rule.EXACT, before + 1)


def test_the_library_takes_part_if_the_program_asks_for_it(timed):
    timed.takes = {"cublas": 0.5e-5}
    assert call().baseline == ""
    new_process()
    dispatcher.configure(tune="first-call", never_worse_than="cublas")
    assert (call().baseline, timed.kernels[-1]) == ("cublas", "cublas")
    new_process()
    assert (call().baseline, timed.kernels[-2:]) == ("cublas", ["cublas", "cublas"])


def test_times_that_are_nearly_equal_change_nothing(timed):
    timed.takes = {text(FIRST): 1.005e-5, text(SECOND): 1e-5, text(THIRD): 1e-5}
    assert call().schedule == FIRST


@pytest.mark.parametrize(("seconds", "rule", "fastest"), [(0.02, Rule.FIRST_CALL, SECOND), (0.03, Rule.MODEL, FIRST)])
def test_what_may_not_fit_into_the_time_is_not_launched(timed, seconds, rule, fastest):
    timed.takes = {text(FIRST): seconds, text(SECOND): 0.018, text(THIRD): 0.001}
    chosen = call()
    assert (chosen.rule, chosen.schedule) == (rule, fastest)
    assert timed.now <= 0.05
    assert not any(text(THIRD) in kernel for kernel in timed.kernels)
    assert first_calls._file().exists() == (rule is Rule.FIRST_CALL)


def test_a_candidate_that_is_refused_is_out(timed):
    timed.refused[text(FIRST)] = dispatcher.LaunchError("no")
    timed.takes = {text(SECOND): 2e-5, text(THIRD): 1e-5}
    assert call().schedule == THIRD


def test_what_is_updated_is_never_launched_on_twice(timed):
    call(beta=1.0)
    assert len(timed.launched) == 1
    x = FakeTensor(A, (64, 512))
    dispatcher.softmax(x, out=x)
    assert len(timed.launched) == 2
    call()
    assert len(timed.launched) > 10


def test_a_capture_measures_nothing(timed):
    a, b, c = FakeTensor(A, (512, 512)), FakeTensor(B, (512, 512)), FakeTensor(C, (512, 512))
    dispatcher.plan("sgemm", a, b, out=c)
    assert timed.launched == []
    call(stream=CAPTURED)
    assert len(timed.launched) == 1


def test_results_that_cannot_be_read_are_measured_again(timed):
    for content in ("", "[]", '{"x": 1}'):
        first_calls._file().write_text(content)
        assert call().rule is Rule.FIRST_CALL
        new_process()


def test_under_a_lock_nothing_is_measured(timed, tmp_path):
    document.write(tmp_path / "empty.lock", "NVRTC 1.0", H200, [])
    dispatcher.configure(tune="first-call", lock=tmp_path / "empty.lock", strict=False)
    with pytest.warns(RuntimeWarning, match="is not in"):
        assert call().rule is Rule.MODEL
    assert len(timed.launched) == 1
