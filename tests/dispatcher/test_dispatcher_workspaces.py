"""Which kernels share a workspace, and when a larger one takes its place; the driver is a stand-in."""

from contextlib import nullcontext
from threading import Thread

import pytest
from cuda.bindings import driver

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.dispatcher.targets import workspaces
from autotune.dispatcher.targets.gpu import _GpuKernel
from autotune.dispatcher.targets.workspaces import Scratch

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
    scratch = Scratch(nullcontext())
    assert [scratch.pointer(size, OWN) for size in (100, 50, 120, 200, 10)] == [4096, 4096, 8192, 8192, 8192]
    assert scratch.pointer(10, OTHER) == 12288
    assert allocated == [100, 200, 10]


def test_threads_share_no_scratch_on_their_own_default_streams(allocated):
    scratch, found = Scratch(nullcontext()), []
    for _ in range(2):
        found.append(scratch.pointer(10, PER_THREAD))
    thread = Thread(target=lambda: found.append(scratch.pointer(10, PER_THREAD)))
    thread.start()
    thread.join()
    assert found == [4096, 4096, 8192]


def test_kernels_that_keep_something_have_workspaces_of_their_own(allocated):
    class Packed:
        workspace = 0

    class Loaded:
        def bound(self, packed):
            return lambda stream: found.append(packed.workspace)

    class Context(nullcontext):
        current = True

    found, context = [], Context()
    scratch = Scratch(context)
    for shared in (True, True, False, False):
        program = Program("", (Argument("workspace", "void*"),), (), 64, scratch=shared)
        _GpuKernel(Loaded(), context, program, scratch).bound(Packed())(OWN)
    assert found == [4096, 4096, 8192, 12288]
