"""Which kernels share a workspace, and when a larger one takes its place; the driver is a stand-in."""

from contextlib import nullcontext
from threading import Thread

import pytest
from cuda.bindings import driver

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.dispatcher.targets import workspaces
from autotune.dispatcher.targets.gpu import _GpuKernel
from autotune.dispatcher.targets.workspaces import Workspaces

OWN, OTHER, PER_THREAD = 0x7F00, 0x7F01, 2


@pytest.fixture
def allocated(monkeypatch):
    """The sizes that were asked for; addresses are their numbers, times 4096."""
    sizes = []

    def allocate(size):
        sizes.append(size)
        return driver.CUresult.CUDA_SUCCESS, 4096 * len(sizes)

    monkeypatch.setattr(driver, "cuMemAlloc", allocate)
    monkeypatch.setattr(driver, "cuMemsetD8Async", lambda *_: (driver.CUresult.CUDA_SUCCESS,))
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda stream: workspaces._NOT_CAPTURED)
    return sizes


def test_scratch_of_a_stream_grows_and_is_shared(allocated):
    scratch = Workspaces(nullcontext())
    found = [scratch.pointer(size, OWN) for size in (100, 50, 120, 200, 1000, 10)]
    assert found == [4096, 4096, 8192, 8192, 12288, 12288]
    assert scratch.pointer(10, OTHER) == 16384
    assert allocated == [100, 200, 1000, 10]


def test_a_thread_takes_its_workspace_along(allocated, monkeypatch):
    """A thread that begins when another has ended may get its number, while launches of the other still run."""
    freed = []
    monkeypatch.setattr(
        driver, "cuMemFree", lambda pointer: (freed.append(pointer), (driver.CUresult.CUDA_SUCCESS,))[1]
    )
    monkeypatch.setattr(driver, "cuThreadExchangeStreamCaptureMode", lambda mode: (driver.CUresult.CUDA_SUCCESS, mode))
    scratch, found = Workspaces(nullcontext()), []
    scratch.pointer(10, OWN)
    for _ in range(2):
        thread = Thread(target=lambda: found.append([scratch.pointer(size, PER_THREAD) for size in (10, 100, 10)]))
        thread.start()
        thread.join()
    assert found == [[8192, 12288, 12288], [16384, 20480, 20480]]
    assert sorted(freed) == [8192, 12288, 16384, 20480]


def test_a_graph_that_a_thread_captured_outlives_it(allocated, monkeypatch):
    active = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda stream: (driver.CUresult.CUDA_SUCCESS, active))
    monkeypatch.setattr(driver, "cuStreamGetCaptureInfo", lambda stream: (driver.CUresult.CUDA_SUCCESS, active, 7))
    monkeypatch.setattr(workspaces, "_outside_of_captures", lambda: nullcontext(OTHER))
    monkeypatch.setattr(driver, "cuMemFree", lambda pointer: pytest.fail("a graph uses it"))
    scratch = Workspaces(nullcontext())
    for _ in range(2):
        thread = Thread(target=scratch.pointer, args=(10, PER_THREAD))
        thread.start()
        thread.join()
    assert allocated == [10, 10]


def test_kernels_that_keep_something_have_workspaces_of_their_own(allocated):
    class Loaded:
        def bound(self, packed):
            return lambda stream: found.append(packed.workspace)

    class Context(nullcontext):
        current = True

    found, context = [], Context()
    scratch = Workspaces(context)
    for shared in (True, True, False, False):
        program = Program(
            "", (Argument("workspace", "void*"),), (Launch("entry", (1, 1, 1), (1, 1, 1)),), 64, scratch=shared
        )
        _GpuKernel(Loaded(), context, program, scratch).bound(program.pack({"workspace": 0}, {}))(OWN)
    assert found == [4096, 4096, 8192, 12288]
