"""When a process that tunes is started, and with what; the process itself is a stand-in."""

from types import SimpleNamespace

import pytest
from dispatcher.records import H200, problem, schedule, trial
from fake_gpu import A, B, C, FakeTensor

from autotune import dispatcher
from autotune.dispatcher.choice import background

START, IDLE_GPU = background._started, background.idle_gpu


class Process:
    def __init__(self, arguments):
        self.arguments = arguments
        self.ended = None

    def poll(self):
        return self.ended


@pytest.fixture(autouse=True)
def processes(monkeypatch, tmp_path):
    """What was started."""
    started = []
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(background, "_tuning", [])
    monkeypatch.setattr(background, "idle_gpu", {H200.name: 3}.get)
    monkeypatch.setattr(background, "_started", lambda words: started.append(Process(words)) or started[-1])
    return started


def call(m):
    dispatcher.sgemm(FakeTensor(A, (m, 512)), FakeTensor(B, (512, 512)), out=FakeTensor(C, (m, 512)))


def test_nothing_is_tuned_unless_asked_for(gpu, processes):
    call(8)
    dispatcher.configure(tune="background")
    dispatcher.configure(tune="never")
    call(16)
    assert processes == []


def test_untuned_calls_are_tuned_by_one_process_at_a_time_on_an_idle_gpu(gpu, processes, database):
    dispatcher.configure(tune="background")
    database.record(trial(problem(512), schedule(0, problem(512))))
    call(512)
    assert processes == []
    call(8)
    call(16)
    (first,) = processes
    assert first.arguments == ["tune", "sgemm", "--device", "3", "--untuned"]
    call(16)
    first.ended = 0
    call(16)
    assert len(processes) == 1
    call(24)
    assert len(processes) == 2


@pytest.mark.parametrize(("named", "found"), [(None, []), (0, ["0"])])
def test_a_busy_gpu_tunes_only_if_it_is_named(gpu, processes, monkeypatch, named, found):
    monkeypatch.setattr(background, "idle_gpu", lambda model: None)
    dispatcher.configure(tune="background", device=named)
    call(8)
    assert [process.arguments[3] for process in processes] == found


@pytest.mark.parametrize(("busy", "found"), [((), 0), ((0,), 2), ((0, 2), None)])
def test_an_idle_gpu_is_of_the_model_and_runs_no_process(monkeypatch, busy, found):
    gpus = [
        SimpleNamespace(
            name=model,
            compute_running_processes=["a process"] if number in busy else [],
            to_cuda_device=lambda number=number: SimpleNamespace(device_id=number),
        )
        for number, model in enumerate((H200.name, "Tesla T4", H200.name))
    ]
    monkeypatch.setattr("cuda.core.system.Device", SimpleNamespace(get_all_devices=lambda: gpus))
    assert IDLE_GPU(H200.name) == found


def test_bad_settings_get_one_line():
    with pytest.raises(ValueError, match="tune='always': expected 'never', 'background', 'first-call'"):
        dispatcher.configure(tune="always")
    with pytest.raises(ValueError, match="never_worse_than='mkl': expected 'cublas' or None"):
        dispatcher.configure(never_worse_than="mkl")
    with pytest.raises(ValueError, match="device=-1: expected the number of a GPU, 0 or more, or None"):
        dispatcher.configure(device=-1)
    with pytest.raises(TypeError, match="device='0': expected the number of a GPU, or None"):
        dispatcher.configure(device="0")


def test_the_process_is_autotune():
    for arguments, code in ((["tune", "sgemm", "--device", "h200", "--untuned"], 0), (["tune", "sgem"], 2)):
        assert START(arguments).wait() == code
