"""The dispatcher on a GPU, with arrays of every library that is here."""

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import Device
from cuda.core.utils import StridedMemoryView
from dispatcher.records import SGEMM, schedule, trial

from autotune import dispatcher
from autotune.base.cuda_core import handle_return
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.compiler import compile_kernel
from autotune.db.comparison import BaselineTimes
from autotune.devices.cuda import CudaDevice
from autotune.dispatcher.calls import function, machine_code
from autotune.dispatcher.calls import plan as plans
from autotune.dispatcher.choice import formulation
from autotune.dispatcher.choice.choose import Rule
from autotune.dispatcher.lock import document
from autotune.dispatcher.lock.document import Locked
from autotune.dispatcher.lock.lock import Lock
from autotune.dispatcher.targets.cublas import library

pytestmark = pytest.mark.gpu


class Held:
    """Device memory with the CUDA array interface, from cuda.core alone."""

    def __init__(self, device, values, stream):
        self.nbytes = values.nbytes
        self.buffer = device.allocate(max(1, values.nbytes), stream=stream)
        self.stream = stream
        self.values = np.ascontiguousarray(values)
        self.__cuda_array_interface__ = {
            "shape": values.shape,
            "typestr": values.dtype.str,
            "data": (int(self.buffer.handle), False),
            "strides": None,
            "version": 3,
            "stream": int(stream.handle),
        }
        pointer = int(self.buffer.handle)
        handle_return(driver.cuMemcpyHtoDAsync(pointer, self.values.ctypes.data, self.nbytes, stream.handle))

    def numpy(self):
        result = np.empty_like(self.values)
        pointer = int(self.buffer.handle)
        handle_return(driver.cuMemcpyDtoHAsync(result.ctypes.data, pointer, self.nbytes, self.stream.handle))
        self.stream.sync()
        return result


@pytest.fixture(scope="module")
def device():
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def hold(device):
    stream = device.create_stream()
    return lambda values: Held(device, values, stream)


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return torch


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def random(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def assert_close(actual, a, b, alpha=1.0, c=0.0, beta=0.0):
    expected = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + beta * np.float64(c)
    bound = 4 * 2.0**-24 * ((a.shape[-1] + 4) * abs(alpha) + 4 * abs(beta))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=bound)


@pytest.mark.parametrize("shape", [(64, 64, 64), (129, 65, 33), (1, 1000, 3000), (1000, 1, 7), (5, 6, 0)])
def test_cuda_array_interface(hold, shape):
    m, n, k = shape
    a, b, c = random(m, k), random(k, n, seed=1), random(m, n, seed=2)
    out = hold(c)
    assert dispatcher.sgemm(hold(a), hold(b), out=out, alpha=1.5, beta=-0.5) is out
    assert_close(out.numpy(), a, b, 1.5, c, -0.5)


def test_buffers_of_cuda_core(hold):
    a, b = random(33, 65), random(65, 70, seed=1)
    held = [hold(values) for values in (a, b, np.full((33, 70), np.nan, np.float32))]
    views = [StridedMemoryView.from_buffer(h.buffer, shape=h.values.shape, dtype=np.dtype("float32")) for h in held]
    dispatcher.sgemm(views[0], views[1], out=views[2], stream=held[0].stream)
    assert_close(held[2].numpy(), a, b)


def test_one_workspace_for_each_stream_and_as_good_as_new_after_a_launch(device):
    """Few tiles and a long sum: split along k, which needs a workspace."""
    a, b = random(16, 8192), random(8192, 64, seed=1)
    for stream in (device.create_stream(), device.create_stream()):
        for _ in range(3):
            out = Held(device, np.zeros((16, 64), np.float32), stream)
            dispatcher.sgemm(Held(device, a, stream), Held(device, b, stream), out=out)
            assert_close(out.numpy(), a, b)
    (held,) = plans._plans.values()
    assert len(held.loaded.template._kernel._workspaces) == 2


def test_a_first_call_measures_its_candidates_on_its_operands(hold):
    dispatcher.configure(tune="first-call", never_worse_than="cublas")
    a, b = random(700, 900), random(900, 500, seed=1)
    out = hold(np.full((700, 500), np.nan, np.float32))
    dispatcher.sgemm(hold(a), hold(b), out=out)
    assert_close(out.numpy(), a, b)
    (choice,) = (chosen.choice for chosen in plans.all_chosen())
    assert choice.rule is Rule.FIRST_CALL
    assert 1e-6 < choice.seconds < 1e-3


def test_a_lock_serves_machine_code_from_its_folder_alone(hold, tmp_path, monkeypatch):
    a, b = random(40, 50), random(50, 60, seed=1)
    operands = hold(a), hold(b)
    dispatcher.sgemm(*operands, out=hold(random(40, 60)))
    (chosen,), spec = plans.all_chosen(), CudaDevice(0).spec
    problem, own = chosen.problem, chosen.choice.schedule
    path = tmp_path / "autotune.lock"
    document.write(path, "NVRTC", spec, [Locked(SGEMM, problem, own, chosen.program, chosen.cubins)])
    lock = Lock(path)
    lock.folder.mkdir()
    kernel = compile_kernel(SGEMM.program(problem, own, spec), spec.arch)
    for digest, cubin in zip(chosen.cubins, kernel.cubins, strict=True):
        lock.cubin(digest).write_bytes(cubin)
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(machine_code, "compile_kernel", None)
    plans._plans.clear()
    function.clear()
    dispatcher.configure(lock=path)
    out = hold(np.full((40, 60), np.nan, np.float32))
    dispatcher.sgemm(*operands, out=out)
    assert_close(out.numpy(), a, b)
    assert [one.choice.rule for one in plans.all_chosen()] == [Rule.LOCK]


def test_a_thread_without_a_context_stays_so(device, hold):
    a, b, out = (hold(random(8, 8)) for _ in range(3))
    handle_return(driver.cuCtxSetCurrent(0))
    try:
        dispatcher.sgemm(a, b, out=out)
        assert int(handle_return(driver.cuCtxGetCurrent())) == 0
    finally:
        device.set_current()
    assert_close(out.numpy(), a.values, b.values)


def test_transpose_of_a_cuda_array_interface(hold):
    a = random(3, 65, 130)
    out = hold(np.zeros((3, 130, 65), np.float32))
    dispatcher.transpose(hold(a), out=out)
    np.testing.assert_array_equal(out.numpy(), a.swapaxes(1, 2))


def test_the_record_of_this_device_is_served(hold, database, monkeypatch):
    spec = CudaDevice(0).spec
    known = SgemmProblem(256, 256, 64)
    database.record(trial(known, schedule(3, known, spec), spec=spec))
    served = []
    choose = formulation.choices
    monkeypatch.setattr(formulation, "choices", lambda *args: served.extend(choose(*args)) or served)
    a, b, out = random(256, 64), random(64, 256, seed=1), hold(np.zeros((256, 256), np.float32))
    dispatcher.sgemm(hold(a), hold(b), out=out)
    assert served[0].schedule.raster_group == 103
    assert_close(out.numpy(), a, b)


def test_torch_on_another_stream(torch):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a, b = torch.rand(300, 2000, device="cuda") * 2 - 1, torch.rand(2000, 200, device="cuda") * 2 - 1
        c = dispatcher.sgemm(a, b)
        c = c.cpu().numpy()
    assert_close(c, a.cpu().numpy(), b.cpu().numpy())


def test_torch_views(torch):
    a, b = torch.rand(3, 40, 50, device="cuda") * 2 - 1, torch.rand(60, 50, device="cuda") * 2 - 1
    out = torch.full((3, 60, 40), torch.nan, device="cuda").mT
    assert dispatcher.sgemm(a, b.T, out=out) is out
    assert_close(out.cpu().numpy(), a.cpu().numpy(), b.T.cpu().numpy())
    c = dispatcher.sgemm(a.mT[:, 1:, :33], a[:1, :33, 3:])
    assert c.device == a.device
    assert_close(c.cpu().numpy(), a.mT[:, 1:, :33].cpu().numpy(), a[:1, :33, 3:].cpu().numpy())


def test_torch_transposes_every_element_size(torch):
    for dtype in (torch.int8, torch.bfloat16, torch.float32, torch.int64, torch.complex128):
        a = (torch.rand(65, 130, device="cuda") * 100).to(dtype)
        assert torch.equal(dispatcher.transpose(a), a.T)


@pytest.mark.parametrize("batch", [1, 3])
def test_cublas_serves_where_it_was_faster(hold, database, batch):
    library()  # LaunchError: pip install nvidia-cublas
    spec = CudaDevice(0).spec
    known = SgemmProblem(100, 60, 80, transpose_b=True, batch=batch, stride_a=8000, stride_b=4800, beta_nonzero=True)
    contested = trial(known, schedule(3, known, spec), spec=spec).compared(BaselineTimes(2e-5, {"cublas": 1e-5}, {}))
    database.record(contested)
    dispatcher.configure(never_worse_than="cublas")
    shape = (batch,) if batch > 1 else ()
    a, b, c = random(*shape, 100, 80), random(*shape, 60, 80, seed=1), random(*shape, 100, 60, seed=2)
    held = [hold(values) for values in (a, b, c)]
    # The second operand as its transpose, in bytes.
    held[1].__cuda_array_interface__ |= {"shape": (*shape, 80, 60), "strides": (*(19200 for _ in shape), 4, 320)}
    step = dispatcher.plan("sgemm", held[0], held[1], out=held[2], alpha=1.5, beta=-0.5, stream=held[0].stream)
    assert step.choice.origin == "cublas"
    step()
    assert_close(held[2].numpy(), a, b.swapaxes(-1, -2), 1.5, c, -0.5)


def test_torch_errors(torch):
    a = torch.rand(8, 8, device="cuda")
    with pytest.raises(ValueError, match="out overlaps a"):
        dispatcher.sgemm(a, a.clone(), out=a)
    with pytest.raises(ValueError, match="b is on the host and out on CUDA device 0"):
        dispatcher.sgemm(a, torch.rand(8, 8))
    with pytest.raises(ValueError, match="requires a gradient"):
        dispatcher.sgemm(a.requires_grad_(), a.detach())
    with pytest.raises(TypeError, match="a has dtype float16"):
        dispatcher.sgemm(a.detach().half(), a.detach())
    with torch.no_grad():
        assert_close(dispatcher.sgemm(a, a).cpu().numpy(), a.cpu().numpy(), a.cpu().numpy())


def test_cupy_on_another_stream(cupy):
    with cupy.cuda.Stream(non_blocking=True):
        a, b = cupy.asarray(random(100, 300)), cupy.asarray(random(50, 300, seed=1))
        c = dispatcher.sgemm(a, b.T)
        assert isinstance(c, cupy.ndarray)
        assert_close(cupy.asnumpy(c), cupy.asnumpy(a), cupy.asnumpy(b).T)


def test_a_bound_call_sees_new_values(device, hold):
    a, b, out = hold(random(64, 300)), hold(random(300, 64, seed=1)), hold(np.zeros((64, 64), np.float32))
    step = dispatcher.plan("sgemm", a, b, out=out, stream=a.stream)
    for seed in (2, 3):
        a.values[...] = random(64, 300, seed=seed)
        pointer = int(a.buffer.handle)
        handle_return(driver.cuMemcpyHtoDAsync(pointer, a.values.ctypes.data, a.nbytes, a.stream.handle))
        assert step() is out
        assert_close(out.numpy(), a.values, b.values)


def test_a_capture_of_a_split_sum_replays_on_its_own_workspace(torch):
    a, b = torch.rand(16, 8192, device="cuda") * 2 - 1, torch.rand(8192, 64, device="cuda") * 2 - 1
    out = torch.empty(16, 64, device="cuda")
    with pytest.raises(dispatcher.CaptureError, match="autotune warm sgemm"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        dispatcher.sgemm(a, b, out=out)
    dispatcher.sgemm(a, b, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dispatcher.sgemm(a, b, out=out)
    for _ in range(3):
        a.uniform_(-1, 1)
        out.zero_()
        graph.replay()
        assert_close(out.cpu().numpy(), a.cpu().numpy(), b.cpu().numpy())
