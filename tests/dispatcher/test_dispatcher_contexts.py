"""In which CUDA context a kernel is launched, and when somebody asks; the driver is a stand-in."""

import ctypes
from functools import partial
from types import SimpleNamespace

import pytest

from autotune.base.cuda_core import CUDAError
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES, TensorMap
from autotune.dispatcher.targets import gpu
from autotune.dispatcher.targets.base import LaunchError
from autotune.dispatcher.targets.gpu import _GpuKernel
from autotune.dispatcher.targets.workspaces import Workspaces

LEGACY, PER_THREAD, OWN = 1, 2, 0x7F00


class Context:
    """The primary context, and whether it is current in this thread."""

    def __init__(self, *, current):
        self.is_current = current
        self.asked = 0

    @property
    def current(self):
        self.asked += 1
        return self.is_current

    def __enter__(self):
        assert not self.is_current
        self.is_current = True

    def __exit__(self, *_exception):
        self.is_current = False


class Loaded:
    """A kernel that only remembers in which context it was launched on which stream.

    Attributes:
        fails: whether a launch fails, by whether the context is current.
    """

    def __init__(self, context, fails=()):
        self.context, self.fails, self.launched = context, fails, []

    def bound(self, packed):
        def launch(stream):
            self.launched.append((stream, self.context.is_current))
            if self.context.is_current in self.fails:
                raise CUDAError("CUDA_ERROR_INVALID_CONTEXT: invalid device context")

        return launch


def launch(stream, *, current, fails=()):
    context = Context(current=current)
    loaded = Loaded(context, fails)
    try:
        _GpuKernel(loaded, context, Program("", (), ()), Workspaces(context)).bound(None)(stream)
    finally:
        assert context.is_current is current  # what is current in the caller's thread stays so
    return loaded.launched, context.asked


@pytest.mark.parametrize("current", [False, True])
def test_a_stream_that_somebody_made_tells_its_context(current):
    assert launch(OWN, current=current) == ([(OWN, current)], 0)


@pytest.mark.parametrize("stream", [LEGACY, PER_THREAD])
@pytest.mark.parametrize("current", [False, True])
def test_a_default_stream_is_that_of_the_primary_context(stream, current):
    assert launch(stream, current=current)[0] == [(stream, True)]


def test_a_driver_that_wants_a_current_context_gets_it():
    assert launch(OWN, current=False, fails=[False])[0] == [(OWN, False), (OWN, True)]


@pytest.mark.parametrize("stream", [LEGACY, OWN])
@pytest.mark.parametrize("current", [False, True])
def test_what_fails_in_the_primary_context_is_a_launch_error(stream, current):
    with pytest.raises(LaunchError, match="invalid device context"):
        launch(stream, current=current, fails=[False, True])


def test_tensor_maps_of_a_workspace_are_those_of_the_stream(monkeypatch):
    boxes = TensorMap("workspace", "float32", (8, 8), (8, 1), (4, 4), offset=256)
    members = Argument("boxes", "TensorMap", tensor_map=boxes), Argument("workspace", "void*")
    program = Program("", members, (Launch("entry", (1, 1, 1), (32, 1, 1)),), workspace_bytes=512)
    packed = program.pack({"workspace": 0}, {}, lambda tensor_map, address: bytes(TENSOR_MAP_BYTES))
    context, held = Context(current=True), []
    loaded = SimpleNamespace(bound=lambda packed: lambda stream: held.append((packed.workspace, packed.boxes[0])))
    monkeypatch.setattr(
        gpu, "encoder", lambda _, memory, context: partial(setattr, ctypes.c_uint64.from_address(memory), "value")
    )
    monkeypatch.setattr(gpu.Workspaces, "pointer", lambda self, size, stream: 0x1000 * stream)
    launch = _GpuKernel(loaded, context, program, Workspaces(context)).bound(packed)
    for stream in (3, 4, 3):
        launch(stream)
    assert held == [(0x3000, 0x3100), (0x4000, 0x4100), (0x3000, 0x3100)]
