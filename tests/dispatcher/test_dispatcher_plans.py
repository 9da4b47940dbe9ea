"""What is launched on a GPU, told from a fake one: kernels, arguments, streams; and what happens when it refuses."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from types import SimpleNamespace
from weakref import ref

import numpy as np
import pytest
from dispatcher.records import H200, SGEMM, problem, schedule, trial
from fake_gpu import CAPTURED, A, B, C, FakeTensor

from autotune import dispatcher
from autotune.compiler import CompileError
from autotune.dispatcher.calls import arguments as call_arguments
from autotune.dispatcher.calls import plan as plans
from autotune.dispatcher.choice.choose import in_order
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.targets.base import LaunchError


def test_the_call_reaches_the_kernel_on_the_current_stream(gpu):
    out = dispatcher.sgemm(FakeTensor(A, (4, 5), device=1), FakeTensor(B, (5, 6), device=1), alpha=0.5)
    assert (out.data_ptr(), out.shape, out.device) == (C, (4, 6), 1)
    ((stream, arguments),) = gpu.launched
    assert stream == 77
    expected = {"a": A, "b": B, "c": C, "alpha": 0.5, "beta": 0.0, "m": 4, "n": 6, "k": 5, "lda": 5, "ldb": 6, "ldc": 6}
    assert arguments.items() >= expected.items()


@pytest.mark.parametrize("stream", [None, 0])
def test_the_default_stream_is_named_as_dlpack_does(gpu, stream):
    dispatcher.sgemm(FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6)), stream=stream)
    assert gpu.launched[0][0] == 1


@pytest.mark.parametrize("stream", [99, SimpleNamespace(__cuda_stream__=lambda: (0, 99))])
def test_a_stream_may_be_named(gpu, stream):
    dispatcher.sgemm(FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6)), stream=stream)
    assert gpu.launched[0][0] == 99


def test_a_column_major_out_swaps_the_operands(gpu):
    out = FakeTensor(C, (4, 6), (1, 4))
    dispatcher.sgemm(FakeTensor(A, (4, 5), (1, 4)), FakeTensor(B, (5, 6)), out=out, beta=2.0)
    ((_, arguments),) = gpu.launched
    expected = {"a": B, "b": A, "c": C, "beta": 2.0, "m": 6, "n": 4, "k": 5, "lda": 6, "ldb": 4, "ldc": 4}
    assert arguments.items() >= expected.items()
    (key,) = plans._plans
    assert key[1].layout == "tn"


def test_a_repeated_call_uses_its_plan_with_new_values(gpu):
    for shift, alpha in ((0, 1.0), (256, 2.0)):
        dispatcher.sgemm(FakeTensor(A + shift, (4, 5)), FakeTensor(B + shift, (5, 6)), alpha=alpha)
    assert len(gpu.loaded) == 1
    assert [(arguments["a"] - A, arguments["b"] - B, arguments["alpha"]) for _, arguments in gpu.launched] == [
        (0, 0, 1.0),
        (256, 256, 2.0),
    ]


def test_a_repeated_call_may_not_overlap(gpu):
    a, b = FakeTensor(A, (8, 8)), FakeTensor(B, (8, 8))
    dispatcher.sgemm(a, b, out=FakeTensor(C, (8, 8)))
    with pytest.raises(ValueError, match="out overlaps b"):
        dispatcher.sgemm(a, b, out=FakeTensor(B + 128, (8, 8)))
    assert len(gpu.launched) == 1


def test_values_are_filled_in_when_they_are_others(gpu, monkeypatch):
    filled, filler = [], call_arguments.filler

    def counted(*form):
        fill = filler(*form)
        return lambda packed, values: filled.append(values) or fill(packed, values)

    monkeypatch.setattr(call_arguments, "filler", counted)
    out = FakeTensor(C, (4, 6))
    calls = [(A, 1.0), (A, 1.0), (A, 2.0), (A + 256, 2.0), (A + 256, 2.0), (A, 1.0)]
    for pointer, alpha in calls:
        dispatcher.sgemm(FakeTensor(pointer, (4, 5)), FakeTensor(B, (5, 6)), out=out, alpha=alpha)
    assert [(arguments["a"], arguments["alpha"]) for _, arguments in gpu.launched] == calls
    assert [values[0] for values in filled] == [A, A, A + 256, A]


@pytest.mark.parametrize(
    "change", [{"pointer": A + 4}, {"shape": (3, 5)}, {"stride": (7, 1)}, {"stride": (1, 4)}, {"device": 1}]
)
def test_another_alignment_shape_layout_or_device_gets_another_plan(gpu, change):
    device = change.get("device", 0)
    dispatcher.sgemm(FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6)))
    dispatcher.sgemm(FakeTensor(**({"pointer": A, "shape": (4, 5)} | change)), FakeTensor(B, (5, 6), device=device))
    assert len(gpu.loaded) == 2


def test_threads_create_a_plan_once(gpu):
    a, b = FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: dispatcher.sgemm(a, b), range(64)))
    assert len(gpu.loaded) == 1
    assert len(gpu.launched) == 64


@pytest.mark.parametrize("bound", [False, True])
def test_threads_that_launch_at_once_never_share_arguments(gpu, bound):
    a, b = FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6))
    outs = [FakeTensor(C + 256 * number, (4, 6)) for number in range(4)]
    steps = [partial(dispatcher.sgemm, a, b, out=out) for out in outs]
    if bound:
        steps = [dispatcher.plan("sgemm", a, b, out=outs[0])] * 4
    steps[0]()
    together = Barrier(4)
    gpu.before_launch = together.wait  # all have filled in their arguments when the first one launches
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            list(pool.map(lambda step: step(), steps))
    launched = [arguments["c"] for _, arguments in gpu.launched]
    expected = [outs[0].data_ptr()] if bound else [out.data_ptr() for out in outs]
    assert sorted(launched[1:5]) == sorted(launched[5:]) == sorted(expected * (4 // len(expected)))


def test_the_record_of_the_problem_is_served(gpu, database):
    known = problem(512)
    database.record(trial(known, schedule(3, known)))
    dispatcher.sgemm(FakeTensor(A, (512, 512)), FakeTensor(B, (512, 512)))
    assert "raster_group = 103" in gpu.loaded[0].source


@pytest.mark.parametrize("error", [CompileError("no such register"), LaunchError("out of resources")])
def test_a_record_that_fails_is_skipped_with_one_warning(gpu, database, error):
    for number, known in enumerate((problem(512), problem(600))):
        database.record(trial(known, schedule(number, known)))
    gpu.refused = {"raster_group = 100": error}
    a, b = FakeTensor(A, (512, 512)), FakeTensor(B, (512, 512))
    with pytest.warns(
        RuntimeWarning, match=f"sgemm m512-n512-k512-nn: skipped the record of m512-n512-k512-nn: {error}"
    ) as caught:
        dispatcher.sgemm(a, b)
        dispatcher.sgemm(a, b)
    assert len(caught) == 1
    assert "raster_group = 101" in gpu.loaded[-1].source
    assert len(gpu.launched) == 2


def test_two_threads_that_fail_together_skip_one_record(gpu, database):
    for number, known in enumerate((problem(512), problem(600))):
        database.record(trial(known, schedule(number, known)))
    together, refuse = Barrier(2), gpu.refuse

    def refuse_together(program, kind):
        if kind is LaunchError and "raster_group = 100" in program.source:
            together.wait(60)
            raise LaunchError("out of resources")
        refuse(program, kind)

    gpu.refuse = refuse_together
    a, b = FakeTensor(A, (512, 512)), FakeTensor(B, (512, 512))
    with pytest.warns(RuntimeWarning, match="skipped the record") as caught, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: dispatcher.sgemm(a, b), range(2)))
    assert len(caught) == 1
    assert ["raster_group = 101" in program.source for program in gpu.loaded] == [False, True]
    assert len(gpu.launched) == 2


def test_when_all_records_and_the_models_choice_fail_the_default_serves(gpu, database):
    known = problem(2048, 2048, 2048)
    default = SGEMM.emit(known, SGEMM.default(known, H200)).source
    database.record(trial(known, schedule(0, known)))
    modelled = SGEMM.emit(known, in_order(SGEMM, known, H200, [])[0].schedule).source
    assert modelled != default
    gpu.refused = {"raster_group = 100": CompileError("no such register"), modelled: LaunchError("too much")}
    with pytest.warns(RuntimeWarning, match="skipped") as caught:
        dispatcher.sgemm(FakeTensor(A, (2048, 2048)), FakeTensor(B, (2048, 2048)))
    assert ["the record of" in str(warning.message) for warning in caught] == [True, False]
    assert default in gpu.loaded[-1].source


def test_when_the_default_fails_too_the_caller_is_told_each_time(gpu):
    gpu.refused = {"sgemm": LaunchError("CUDA_ERROR_ILLEGAL_ADDRESS")}
    with pytest.warns(RuntimeWarning, match="skipped the model's schedule") as caught:
        for _ in range(2):
            with pytest.raises(LaunchError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
                dispatcher.sgemm(FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6)))
    assert sum("skipped" in str(warning.message) for warning in caught) == 1


def test_a_kernel_that_was_launched_before_is_not_given_up(gpu):
    a, b = FakeTensor(A, (512, 512)), FakeTensor(B, (512, 512))
    dispatcher.sgemm(a, b)
    gpu.refused = {"sgemm": LaunchError("out of resources")}
    with pytest.raises(LaunchError, match="out of resources"):
        dispatcher.sgemm(a, b)
    gpu.refused = {}
    dispatcher.sgemm(a, b)
    assert len(gpu.loaded) == 1


def test_when_the_default_does_not_even_load_the_caller_is_told_each_time(gpu):
    wanted = problem(2048, 2048, 2048)
    gpu.refused = {SGEMM.emit(wanted, SGEMM.default(wanted, H200)).source: CompileError("no such register")}
    step = dispatcher.plan("sgemm", *(FakeTensor(at, (2048, 2048)) for at in (A, B)), out=FakeTensor(C, (2048, 2048)))
    gpu.refused["sgemm"] = LaunchError("too much")
    with pytest.warns(RuntimeWarning, match="skipped the model's schedule: too much"):
        with pytest.raises(CompileError, match="no such register"):
            step()
        with pytest.raises(LaunchError, match="m2048-n2048-k2048-nn: the default schedule was refused before"):
            step()


@pytest.mark.usefixtures("no_launch", "streams")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"device": 1}, "a is on CUDA device 1 and out on CUDA device 0"),
        ({"is_cuda": False, "is_cpu": False, "device": "meta"}, "a is on meta: move it to a GPU, or pass NumPy arrays"),
        ({"requires_grad": True}, r"a requires a gradient.*: pass a\.detach\(\)"),
        ({"is_conj": lambda: True}, "lazily conjugated"),
    ],
)
def test_tensors_that_cannot_be_used(change, message):
    a = FakeTensor(A, (4, 5))
    a.__dict__.update(change)
    with pytest.raises(ValueError, match=message):
        dispatcher.sgemm(a, FakeTensor(B, (5, 6)), out=FakeTensor(C, (4, 6)))


@pytest.mark.usefixtures("no_launch", "streams")
def test_operands_on_the_host_and_on_a_gpu_do_not_mix():
    with pytest.raises(ValueError, match="b is on CUDA device 0 and out on the host"):
        dispatcher.sgemm(np.ones((4, 5), np.float32), FakeTensor(B, (5, 6)))


def test_a_bound_call_launches_with_its_arrays_on_the_current_stream(gpu, streams):
    streams[0] = 5
    a, out = FakeTensor(A, (4, 5)), FakeTensor(C, (4, 6), (1, 4))
    step = dispatcher.plan("sgemm", a, FakeTensor(B, (5, 6)), out=out, alpha=0.5)
    assert gpu.launched == []
    assert step() is out
    streams[0] = 6
    a.data_ptr = None  # it is not looked at again
    assert step() is out
    (first, arguments), (second, again) = gpu.launched
    assert (first, second) == (5, 6)
    assert arguments == again
    assert arguments.items() >= {"a": B, "b": A, "c": C, "alpha": 0.5}.items()
    assert step.choice.rule is Rule.MODEL


def test_a_bound_call_stays_on_the_stream_that_it_names(gpu):
    step = dispatcher.plan("transpose", FakeTensor(A, (4, 5)), stream=9)
    assert step() is step.out
    assert step.out.shape == (5, 4)
    assert [stream for stream, _ in gpu.launched] == [9]


def test_a_bound_call_keeps_its_arrays(gpu):
    a = FakeTensor(A, (4, 5))
    kept = ref(a)
    step = dispatcher.plan("transpose", a)
    del a
    assert kept() is not None
    assert step() is step.out


def test_a_bound_call_falls_back_too(gpu):
    wanted = problem(2048, 2048, 2048)
    modelled = SGEMM.emit(wanted, in_order(SGEMM, wanted, H200, [])[0].schedule).source
    step = dispatcher.plan("sgemm", *(FakeTensor(at, (2048, 2048)) for at in (A, B)), out=FakeTensor(C, (2048, 2048)))
    gpu.refused = {modelled: LaunchError("too much")}
    with pytest.warns(RuntimeWarning, match="skipped the model's schedule: too much"):
        step()
    step()
    assert step.choice.rule is Rule.DEFAULT
    assert len(gpu.launched) == 2


def test_a_bound_call_of_nothing_does_nothing(gpu):
    step = dispatcher.plan("sgemm", FakeTensor(A, (0, 5)), FakeTensor(B, (5, 6)), out=FakeTensor(C, (0, 6)))
    assert step().shape == (0, 6)
    assert (step.choice, gpu.launched) == (None, [])


def test_only_operators_are_bound(gpu):
    with pytest.raises(ValueError, match="unknown operator 'sgem'; did you mean sgemm"):
        dispatcher.plan("sgem", FakeTensor(A, (4, 5)))


def test_a_capture_that_would_compile_is_refused_and_names_the_remedy(gpu):
    a, b, out = FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6)), FakeTensor(C, (4, 6))
    with pytest.raises(dispatcher.CaptureError, match=r"m4-n6-k5-nn has no kernel yet.*autotune warm sgemm"):
        dispatcher.sgemm(a, b, out=out, stream=CAPTURED)
    assert gpu.loaded == []
    dispatcher.sgemm(a, b, out=out)
    dispatcher.sgemm(a, b, out=out, stream=CAPTURED)
    assert [stream for stream, _ in gpu.launched] == [1, CAPTURED]


def test_warm_kernels_are_only_launched(gpu):
    wanted = problem(4, 6, 5, lda=5, ldb=6, ldc=6)
    (choice,) = dispatcher.warm([wanted])
    assert choice.rule is Rule.MODEL
    assert len(gpu.loaded) == 1
    a, b, out = FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6)), FakeTensor(C, (4, 6))
    dispatcher.sgemm(a, b, out=out, stream=CAPTURED)
    assert len(gpu.loaded) == len(gpu.launched) == 1
