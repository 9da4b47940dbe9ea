"""Calls from threads without a CUDA context, such as that of PyTorch's backward passes; the driver is a stand-in."""

# ruff: noqa: N802 -- the names are the driver's

import ctypes
from contextlib import nullcontext
from functools import partial
from threading import Thread, local
from types import SimpleNamespace

import pytest
from cuda.bindings import driver
from dispatcher.records import H200

from autotune.base.cuda_core import CUDAError
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.program import Program
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES, TensorMap
from autotune.compiler import CompiledKernel
from autotune.devices import launcher, tensor_maps
from autotune.dispatcher.calls.arguments import Template
from autotune.dispatcher.targets import contexts, gpu, workspaces
from autotune.dispatcher.targets.base import LaunchError
from autotune.dispatcher.targets.gpu import _GpuKernel
from autotune.dispatcher.targets.workspaces import Workspaces

OK, INVALID = driver.CUresult.CUDA_SUCCESS, driver.CUresult.CUDA_ERROR_INVALID_CONTEXT
LEGACY = 1
ELSEWHERE = 99  # a context of somebody's that is no device's primary one
OWN, OTHER, PER_THREAD = 0x7F00, 0x7F01, 2
BOXES = TensorMap("a", "float32", (8, 8), (8, 1), (4, 4))
KEPT = TensorMap("workspace", "float32", (8, 8), (8, 1), (4, 4))

MEMBERS = (
    Argument("a", "TensorMap", tensor_map=BOXES),
    Argument("kept", "TensorMap", tensor_map=KEPT),
    Argument("workspace", "void*"),
)

LAUNCH = Launch("entry", (3, 1, 1), (64, 1, 1))


class Primary(nullcontext):
    """The context that is current everywhere."""

    current = True


def own_stream(ordinal):
    return 0x1000 * (ordinal + 1)


class Driver:
    """Refuses what is called without a current context, or for memory or a stream in one that is not theirs.

    Attributes:
        done: the function and the primary context of everything that was done.
        streams_tell: whether what is launched on, or asked of, a stream that somebody made needs no current context.
    """

    def __init__(self, monkeypatch, *, streams_tell):
        self.done, self.streams_tell, self._threads = [], streams_tell, local()
        for name in vars(Driver):
            if name.startswith("cu"):
                monkeypatch.setattr(driver, name, getattr(self, name))

    @property
    def stack(self):
        """The contexts of this thread, the current one last."""
        return self._threads.__dict__.setdefault("stack", [])

    def does(self, name, stream=None, needs=True):
        current = self.stack[-1] if self.stack else 0
        wanted = current if stream is None else stream // 0x1000 or current
        if wanted in (0, ELSEWHERE) or (needs and current != wanted):
            return INVALID
        self.done.append((name, wanted))
        return OK

    def cuDeviceGet(self, ordinal):
        return OK, ordinal

    def cuDevicePrimaryCtxRetain(self, device):
        return OK, driver.CUcontext(device + 1)

    def cuCtxGetCurrent(self):
        return OK, driver.CUcontext(self.stack[-1] if self.stack else 0)

    def cuCtxPushCurrent(self, context):
        self.stack.append(int(context))
        return (OK,)

    def cuCtxPopCurrent(self):
        return OK, self.stack.pop()

    def cuStreamIsCapturing(self, stream):
        return self.does("asked", stream, needs=not self.streams_tell), workspaces._NOT_CAPTURED[1]

    def cuStreamGetCaptureInfo(self, stream):
        return self.does("asked", stream, needs=not self.streams_tell), workspaces._NOT_CAPTURED[1], 0

    def cuStreamSynchronize(self, stream):
        return (self.does("synchronized", stream),)

    def cuMemAlloc(self, size):
        return self.does("allocated"), 0x10000

    def cuMemsetD8Async(self, pointer, value, size, stream):
        return (self.does("set", stream),)

    def cuLaunchKernelEx(self, config, function, parameters, extra):
        return (self.does("launched", int(config.hStream), needs=not self.streams_tell),)

    def cuTensorMapEncodeTiled(self, *_):
        return self.does("encoded"), driver.CUtensorMap()

    def cuTensorMapReplaceAddress(self, encoded, address):
        return (self.does("moved"),)


def returned(result):
    if result[0] != OK:
        raise CUDAError(result[0].name)
    return result[1] if len(result) == 2 else result[1:] or None


def compiled(*_):
    return CompiledKernel(b"", Resources(1), "sm_90", "")


@pytest.fixture(params=[False, True], ids=["strict", "streams tell"])
def fake(request, monkeypatch):
    for module in (contexts, gpu, launcher, tensor_maps, workspaces):
        monkeypatch.setattr(module, "handle_return", returned)
    code = SimpleNamespace(get_kernel=lambda entry: SimpleNamespace(handle=1))
    monkeypatch.setattr(launcher, "ObjectCode", SimpleNamespace(from_cubin=lambda cubin, name: code))
    monkeypatch.setattr(gpu, "Device", lambda ordinal: SimpleNamespace(set_current=lambda: 0, name="", properties=0))
    monkeypatch.setattr(gpu, "driver_spec", lambda name, properties: H200)
    monkeypatch.setattr(gpu, "check_device", lambda ordinal: None)
    return Driver(monkeypatch, streams_tell=request.param)


def in_thread(work, *arguments):
    """Call it in a new thread, which has no context; raise what it raises."""
    errors = []

    def run():
        try:
            work(*arguments)
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    for error in errors:
        raise error


@pytest.mark.parametrize("current", [None, ELSEWHERE, 1, 2])
@pytest.mark.parametrize("steps", [(LAUNCH,), (Memset(0, 64), LAUNCH)], ids=["launch", "memset"])
@pytest.mark.parametrize("stream_of", [own_stream, lambda _: LEGACY, lambda _: PER_THREAD], ids=["own", "1", "2"])
def test_any_thread_calls_on_any_device(fake, current, steps, stream_of):
    program = Program("", MEMBERS, steps, 256)
    loaded = []

    def calls(ordinal):
        if current is not None:
            fake.stack.append(current)
        before = list(fake.stack)
        fake.done.clear()
        if len(loaded) <= ordinal:
            target = gpu.Gpu(ordinal)
            loaded.append((target, Template(program, target.load(None, program, compiled), target.encoder)))
        target, template = loaded[ordinal]
        arguments, fill, stream = template.arguments(), template.filler(("a",)), stream_of(ordinal)
        for address in (0x100, 0x200):
            fill(arguments, (address,))
            arguments.launch(stream)
        assert not target.capturing(stream)
        target.synchronize(stream)
        assert fake.stack == before  # what is current in the caller's thread stays so
        assert [name for name, _ in fake.done].count("launched") == 2
        assert {name for name, _ in fake.done} >= {"asked", "encoded", "moved", "launched", "synchronized"}
        in_context = {context for name, context in fake.done if name not in ("encoded", "moved")}
        assert in_context == {ordinal + 1}

    for ordinal in (0, 1):
        for _ in range(2):  # the second one finds the kernel loaded and its workspace allocated
            in_thread(calls, ordinal)


def test_no_step_runs_twice_because_a_later_one_wants_a_context(fake):
    program = Program("", MEMBERS[2:], (LAUNCH, Memset(0, 64)), 256)
    target = gpu.Gpu(0)
    arguments = Template(program, target.load(None, program, compiled), target.encoder).arguments()
    in_thread(arguments.launch, own_stream(0))
    assert [name for name, _ in fake.done if name in ("launched", "set")][-2:] == ["launched", "set"]
    assert [name for name, _ in fake.done].count("launched") == 1


def test_one_that_launches_asks_for_no_context_where_streams_tell(fake, monkeypatch):
    target = gpu.Gpu(0)
    program = Program("", (), (LAUNCH,))
    arguments = Template(program, target.load(None, program, compiled), target.encoder).arguments()
    pushed = []
    push = driver.cuCtxPushCurrent
    monkeypatch.setattr(driver, "cuCtxPushCurrent", lambda context: pushed.append(context) or push(context))
    in_thread(arguments.launch, own_stream(0))
    assert len(pushed) == (0 if fake.streams_tell else 1)


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
    freed = []
    monkeypatch.setattr(driver, "cuMemFree", freed.append)
    monkeypatch.setattr(driver, "cuThreadExchangeStreamCaptureMode", lambda mode: (driver.CUresult.CUDA_SUCCESS, mode))
    scratch = Workspaces(nullcontext())
    for _ in range(2):
        thread = Thread(target=scratch.pointer, args=(10, PER_THREAD))
        thread.start()
        thread.join()
    assert allocated == [10, 10]
    assert not freed


def test_kernels_that_keep_something_have_workspaces_of_their_own(allocated):
    class Loaded:
        def bound(self, packed):
            return lambda stream: found.append(packed.workspace)

    found, context = [], Primary()
    scratch = Workspaces(context)
    for shared in (True, True, False, False):
        program = Program(
            "", (Argument("workspace", "void*"),), (Launch("entry", (1, 1, 1), (1, 1, 1)),), 64, scratch=shared
        )
        _GpuKernel(Loaded(), context, program, scratch).bound(program.pack({"workspace": 0}, {}))(OWN)
    assert found == [4096, 4096, 8192, 12288]


@pytest.mark.parametrize("stream", [LEGACY, own_stream(0)])
def test_what_fails_in_the_primary_context_is_a_launch_error(fake, monkeypatch, stream):
    target, program = gpu.Gpu(0), Program("", (), (LAUNCH,))
    arguments = Template(program, target.load(None, program, compiled), target.encoder).arguments()
    monkeypatch.setattr(driver, "cuLaunchKernelEx", lambda *_: (INVALID,))
    with pytest.raises(LaunchError, match="INVALID_CONTEXT"):
        in_thread(arguments.launch, stream)


def test_tensor_maps_of_a_workspace_are_those_of_the_stream(monkeypatch):
    boxes = TensorMap("workspace", "float32", (8, 8), (8, 1), (4, 4), offset=256)
    members = Argument("boxes", "TensorMap", tensor_map=boxes), Argument("workspace", "void*")
    program = Program("", members, (Launch("entry", (1, 1, 1), (32, 1, 1)),), workspace_bytes=512)
    packed = program.pack({"workspace": 0}, {}, lambda tensor_map, address: bytes(TENSOR_MAP_BYTES))
    context, held = Primary(), []
    loaded = SimpleNamespace(bound=lambda packed: lambda stream: held.append((packed.workspace, packed.boxes[0])))
    monkeypatch.setattr(
        gpu, "encoder", lambda _, memory, context: partial(setattr, ctypes.c_uint64.from_address(memory), "value")
    )
    monkeypatch.setattr(gpu.Workspaces, "pointer", lambda self, size, stream: 0x1000 * stream)
    launch = _GpuKernel(loaded, context, program, Workspaces(context)).bound(packed)
    for stream in (3, 4, 3):
        launch(stream)
    assert held == [(0x3000, 0x3100), (0x4000, 0x4100), (0x3000, 0x3100)]
