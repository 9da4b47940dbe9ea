"""A device in a process of its own: whatever a kernel does to the process, the next kernel finds a sound one."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from devices.worker_fakes import (
    FAULTY,
    KERNEL,
    Fault,
    FaultyDevice,
    FaultyProblem,
    FaultySchedule,
    deadly_device,
    emit,
    faulty_device,
    no_device,
)

from autotune.base.worker import WorkerKilledError
from autotune.db.states import Status
from autotune.devices import worker_device
from autotune.devices.base import DeviceError, DeviceLostError
from autotune.devices.timing import setup_limit
from autotune.devices.worker_device import WorkerDevice

PROBLEM = FaultyProblem()


@pytest.fixture(scope="module")
def device():
    with WorkerDevice(faulty_device) as opened:
        yield opened


@pytest.fixture
def session(device):
    with device.session(FAULTY, PROBLEM, seed=7) as opened:
        yield opened


def evaluated(session, fault=Fault.NONE):
    schedule = FaultySchedule(fault)
    return session.evaluate(schedule, emit(PROBLEM, schedule), KERNEL)


def test_it_is_the_device_that_it_hosts(device):
    hosted = FaultyDevice()
    assert device.selector == hosted.selector
    assert device.spec == hosted.spec
    assert device.time_source is hosted.time_source
    assert device.environment == hosted.environment


def test_good_kernels_share_one_process_that_is_not_this_one(device):
    processes = set()
    for _ in range(2):
        with device.session(FAULTY, PROBLEM, seed=7) as session:
            found = [evaluated(session) for _ in range(3)]
            assert {(one.status, one.samples) for one in found} == {(Status.OK, (1e-3,))}
            assert session.time_limit == FaultyDevice.time_limit
            processes |= {one.error for one in found}
    assert len(processes) == 1
    assert str(os.getpid()) not in processes


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        (Fault.SEGFAULT, Status.CRASHED, "the process for measuring ended by SIGSEGV"),
        (Fault.KILLED, Status.CRASHED, "the process for measuring ended by SIGKILL, twice"),
        (Fault.EXIT, Status.CRASHED, "the process for measuring ended with exit code 3"),
        (Fault.MEMORY, Status.CRASHED, "the process for measuring ran out of memory"),
        (Fault.CONTEXT, Status.CRASHED, "CUDA_ERROR_ILLEGAL_ADDRESS"),
        (Fault.HANG, Status.TIMEOUT, "measuring did not end within 0.1 s"),
    ],
)
def test_a_fault_is_a_status_and_the_next_kernel_gets_another_process(session, fault, status, error):
    before = evaluated(session)
    if fault is Fault.HANG:
        session.time_limit = 0.1
    found = evaluated(session, fault)
    assert (found.status, found.error, found.samples) == (status, error, ())
    after = evaluated(session)
    assert (before.status, after.status) == (Status.OK, Status.OK)
    assert before.error != after.error


def test_a_kernel_whose_process_is_killed_is_tried_again(session, monkeypatch):
    call, asked = session._worker.call, []

    def killed_once(method, *arguments, seconds=None):
        asked.append(method)
        if asked == ["evaluate"]:
            raise WorkerKilledError("ended by SIGKILL")
        return call(method, *arguments, seconds=seconds)

    monkeypatch.setattr(session._worker, "call", killed_once)
    assert evaluated(session).status is Status.OK
    assert asked == ["evaluate", "open", "evaluate"]


def test_a_process_that_is_killed_between_two_kernels_costs_neither(session):
    first = evaluated(session)
    os.kill(int(first.error), signal.SIGKILL)
    while session._worker.alive:
        pass
    second = evaluated(session)
    assert second.status is Status.OK
    assert second.error != first.error


def test_a_device_that_is_lost_is_an_error(session):
    with pytest.raises(DeviceError, match="the GPU has fallen off the bus"):
        evaluated(session, Fault.LOST)


def test_an_error_that_nobody_foresaw_says_where_it_was(session):
    with pytest.raises(KeyError, match="bug") as caught:
        evaluated(session, Fault.BUG)
    assert "worker_fakes.py" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("n", "error"),
    [(0, "the problem does not fit"), (-1, "the process for measuring ended by SIGKILL while it set up faulty")],
)
def test_a_problem_that_cannot_be_set_up_is_an_error_and_harms_no_other(device, n, error):
    with pytest.raises(DeviceError, match=error), device.session(FAULTY, FaultyProblem(n), seed=7):
        pass
    with device.session(FAULTY, PROBLEM, seed=7) as session:
        assert evaluated(session).status is Status.OK


def test_setting_up_has_a_time_limit(device, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(worker_device, "setup_limit", lambda problem, spec: 0.1)
        error = "the process for measuring did not end within 0.1 s while it set up faulty"
        with pytest.raises(DeviceError, match=error), device.session(FAULTY, FaultyProblem(-2), seed=7):
            pass
    with device.session(FAULTY, PROBLEM, seed=7) as session:
        assert evaluated(session).status is Status.OK


def test_setting_up_and_closing_get_their_time_limits(device, monkeypatch):
    given = []
    worker = SimpleNamespace(call=lambda *_, seconds=None: given.append(seconds))
    monkeypatch.setattr(WorkerDevice, "worker", lambda _: worker)
    with device.session(FAULTY, PROBLEM, seed=7):
        pass
    assert given == [setup_limit(PROBLEM, device.spec), worker_device._CLOSE_SECONDS]


def test_a_device_that_cannot_be_made_is_an_error():
    with pytest.raises(DeviceError, match="no driver"):
        WorkerDevice(no_device)
    with pytest.raises(DeviceLostError, match="the process for measuring ended by SIGKILL while it started"):
        WorkerDevice(deadly_device)


def test_ctrl_c_ends_the_process_and_the_device_can_be_used_again(device, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with device.session(FAULTY, PROBLEM, seed=7) as session:
        worker = session._worker
        monkeypatch.setattr(worker._pipe, "poll", interrupted)
        with pytest.raises(KeyboardInterrupt):
            evaluated(session, Fault.HANG)
        assert not worker.alive
    with device.session(FAULTY, PROBLEM, seed=7) as session:
        assert evaluated(session).status is Status.OK


SCRIPT = """
from devices.worker_fakes import FAULTY, KERNEL, Fault, FaultyProblem, FaultySchedule, emit, faulty_device
from autotune.devices.worker_device import WorkerDevice

if __name__ == "__main__":
    problem, schedule = FaultyProblem(), FaultySchedule(Fault.HANG)
    with WorkerDevice(faulty_device) as device, device.session(FAULTY, problem, 7) as session:
        session.evaluate(schedule, emit(problem, schedule), KERNEL)
"""


def test_a_kernel_that_hangs_does_not_outlive_a_tuner_that_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment) as tuner:
        assert tuner.stdout
        assert tuner.stdout.readline() == "hangs\n"
        tuner.kill()
        assert tuner.communicate(timeout=60) == ("", None)  # all that hold its output have ended


def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path):
    script = tmp_path / "tune.py"
    script.write_text("import autotune\nautotune.worker_device('h200')\n")
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert "put what the main module does under if __name__ == '__main__':" in ended.stderr.splitlines()[-1]
    assert "An attempt has been made" not in ended.stderr
