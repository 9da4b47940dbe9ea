"""The proof's operator on a GPU: verified, timed, watched, called on arrays that move, captured, tuned."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from append import OPERATOR as APPEND
from append import AppendSchedule
from cuda.bindings import driver
from cuda.core import Device
from cuda.core.utils import StridedMemoryView
from probe import OPERATOR, ProbeProblem, ProbeSchedule
from probe_calls import COLUMNS, ROWS, arrays, assert_right, device_with_probe, edited, empty_outputs
from scale_lists import OPERATOR as SCALE
from scale_lists import ScaleProblem, ScaleSchedule
from test_proof_append import APART, BHSD, BSHD

from autotune import dispatcher
from autotune.base.cuda_core import handle_return
from autotune.compiler import compile_kernel
from autotune.contract.checker import check_checker, check_reference_kernel
from autotune.db import Status, TuningDB
from autotune.devices.cuda import CudaDevice
from autotune.devices.sanitizer_launch import run
from autotune.devices.worker_device import WorkerDevice
from autotune.tuner import TuneOptions, tune

pytestmark = pytest.mark.gpu

PROBLEM = ProbeProblem(1000, 4000, True)
COPIED, LOADED = ProbeSchedule(tensor_copy=True), ProbeSchedule()


@pytest.fixture(scope="module")
def device():
    return CudaDevice(0)


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return torch


def evaluated(device, problem, schedule, plant=None):
    if violations := OPERATOR.violations(problem, schedule, device.spec):
        pytest.skip(violations[0])
    program = OPERATOR.emit(problem, schedule)
    program = plant(program) if plant else program
    with device.session(OPERATOR, problem, seed=1) as session:
        return session.evaluate(schedule, program, compile_kernel(program, device.spec.arch))


@pytest.mark.parametrize("schedule", [COPIED, LOADED], ids=str)
@pytest.mark.parametrize("problem", [PROBLEM, ProbeProblem(33, 70, ldx=80, ldy=72)], ids=lambda problem: problem.key)
def test_it_is_right_and_timed(device, problem, schedule):
    found = evaluated(device, problem, schedule)
    assert (found.error, found.status) == ("", Status.OK)
    assert found.samples


def test_a_forgotten_memset_is_wrong(device):
    found = evaluated(device, PROBLEM, LOADED, lambda program: replace(program, steps=program.launches))
    assert found.status is Status.WRONG
    assert "kept: wrong" in found.error


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("+ place] = at.row;", "+ place] = at.row + 1;", "expected the rows that the column keeps, each once"),
        ("+ place] = at.row;", "+ place + 1] = at.row;", "expected the rows that the column keeps, each once"),
        (
            "= arguments.counts[column];",
            "= arguments.counts[column], arguments.kept_rows[999] = 0;",
            "expected the gap untouched",
        ),
    ],
)
def test_a_wrong_list_is_seen(device, old, new, error):
    found = evaluated(device, PROBLEM, LOADED, edited(old, new))
    assert found.status is Status.WRONG
    assert error in found.error and found.error.startswith("kept_rows: wrong: ")


@pytest.mark.parametrize("problem", [BSHD, BHSD, APART], ids=lambda problem: problem.key)
def test_an_array_is_updated_where_it_is_stated(device, problem):
    schedule = AppendSchedule(2)
    program = APPEND.program(problem, schedule, device.spec)
    store = "store_global<false>(target,"
    beside = program.source.replace(store, f"target[-2] = {{}};\n  {store}")
    for source, status in ((program.source, Status.OK), (beside, Status.WRONG)):
        edited = replace(program, source=source)
        with device.session(APPEND, problem, seed=1) as session:
            found = session.evaluate(schedule, edited, compile_kernel(edited, device.spec.arch))
        assert (found.status, found.error if status is Status.OK else "") == (status, "")


@pytest.mark.parametrize("taking", [{}, {"alpha": ScaleProblem(0).scalars["alpha"]}], ids=["plain", "own"])
@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("", "", ""),
        ("index < length", "index <= length", "wrote outside of out[0]"),
        ("arguments.x[number]", "arguments.x[number & 2]", "out[1]: wrong"),
    ],
)
def test_lists_have_bounds_of_each_array(device, old, new, error, taking):
    problem, schedule = ScaleProblem(1000), ScaleSchedule()
    program = SCALE.program(problem, schedule, device.spec)
    program = replace(
        program, source=program.source.replace(old or "\0", new), steps=(program.launch.taking(**taking),)
    )
    with device.session(SCALE, problem, seed=1) as session:
        found = session.evaluate(schedule, program, compile_kernel(program, device.spec.arch))
    assert (found.status is Status.WRONG) is bool(error)
    assert error in found.error


def test_a_captured_call_keeps_its_lists(torch):
    """Addresses and lengths are in the graph; what arrays hold is read anew."""
    x = [torch.rand(length, device="cuda") for length in (5, 0, 70000, 333)]
    step = dispatcher.plan("scale", x, alpha=2.0)
    step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = step()
    for _ in range(2):
        for one in x:
            one.uniform_()
        for found in (dispatcher.scale(x, alpha=2.0), out):
            graph.replay()
            for one, given in zip(found, x, strict=True):
                torch.testing.assert_close(one, 2 * given)
    with pytest.raises(ValueError, match=r"x\[1\] is on the host and out\[0\] on CUDA device 0"):
        dispatcher.scale([x[0], x[1].cpu()], out=[x[2][:5], x[3][:0]])


def test_an_output_that_is_read_after_it_was_written_is_wrong_in_place(device):
    inside = "if (!at.inside) continue;"
    clear = "arguments.y[at.row * static_cast<long long>(arguments.ldy) + at.column] = {};"
    found = evaluated(device, PROBLEM, LOADED, edited(inside, f"{inside} {clear}"))
    assert found.status is Status.WRONG
    assert found.error.startswith("in place: y: wrong")


@pytest.mark.parametrize("problem", [ProbeProblem(40, 200), ProbeProblem(33, 70, True, ldx=80)], ids=str)
def test_what_a_sanitizer_watches_is_right(device, problem):
    """Memory of exactly the declared sizes; tensor maps of its addresses."""
    reference, checker = OPERATOR.reference(problem), OPERATOR.checked_by(problem)
    check_reference_kernel(OPERATOR, problem, partial(run, kernel=compile_kernel(reference, device.spec.arch)))
    check_checker(OPERATOR, problem, partial(run, kernel=compile_kernel(checker, device.spec.arch)))
    program = OPERATOR.emit(problem, OPERATOR.default(problem, device.spec))
    inputs = problem.inputs(0)
    outputs = {t.name: np.zeros(t.size, t.dtype.numpy) for t in problem.tensors if t.name not in inputs}
    run(program, problem.tensors, inputs | outputs, {}, kernel=compile_kernel(program, device.spec.arch))
    np.testing.assert_array_equal(outputs["kept"], problem.reference(inputs, {})["kept"])


class Moved:
    """An array's copy in memory of its own, as cuda.core sees it."""

    def __init__(self, handle, stream, values):
        self._values, self._stream = values.copy(), stream
        self._buffer = handle.allocate(values.nbytes, stream=stream)
        self._pointer = int(self._buffer.handle)
        self.view = StridedMemoryView.from_buffer(self._buffer, shape=values.shape, dtype=values.dtype)
        source = self._values.ctypes.data
        handle_return(driver.cuMemcpyHtoDAsync(self._pointer, source, values.nbytes, stream.handle))

    def numpy(self):
        target = self._values.ctypes.data
        handle_return(driver.cuMemcpyDtoHAsync(target, self._pointer, self._values.nbytes, self._stream.handle))
        self._stream.sync()
        return self._values


def test_a_call_follows_the_arrays_of_cuda_core():
    handle = Device(0)
    handle.set_current()
    stream = handle.create_stream()
    kept_alive = []
    for seed in range(3):
        given = arrays(seed)
        moved = {name: Moved(handle, stream, values) for name, values in given.items()}
        kept, rows = (Moved(handle, stream, array) for array in empty_outputs()[1:])
        y = Moved(handle, stream, given["x"]) if seed else moved["x"]  # the first one in place
        views = {name: one.view for name, one in moved.items()}
        dispatcher.probe(**views, out=(y.view, kept.view, rows.view), stream=stream)
        assert_right(given, y.numpy(), kept.numpy(), rows.numpy())
        kept_alive += [moved, kept, rows, y]


def on_gpu(torch, values):
    """A tensor with the bits of an array; NumPy has no bfloat16 that PyTorch knows."""
    bits = torch.from_numpy(values.view(f"i{values.itemsize}").copy()).cuda()
    return bits.view(getattr(torch, values.dtype.name))


def on_host(tensor, dtype):
    """The array with the bits of a tensor."""
    import torch

    bits = tensor.view(getattr(torch, f"int{8 * dtype.itemsize}")).cpu().numpy()
    return bits.view(dtype)


@pytest.mark.parametrize("biased", [False, True])
def test_a_call_follows_torch_tensors(torch, biased):
    kept_alive = []
    for seed in range(3):
        given = arrays(seed, biased=biased)
        tensors = {name: on_gpu(torch, values) for name, values in given.items()}
        for out in (None, (tensors["x"], *(on_gpu(torch, array) for array in empty_outputs()[1:]))):
            y, *lists = dispatcher.probe(**tensors, out=out)
            assert_right(given, on_host(y, given["x"].dtype), *(one.cpu().numpy() for one in lists))
        kept_alive.append(tensors)


def test_a_captured_plan_has_all_steps(torch, device):
    """Replays clear the region again and read the offset where it lies."""
    given = arrays(0)
    tensors = {name: on_gpu(torch, values) for name, values in given.items()}
    step = dispatcher.plan(OPERATOR.name, **tensors)
    assert step.choice
    assert step.choice.schedule.to_dict()["tensor_copy"] is (device.spec.arch == "sm_90")
    step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y, *lists = step()
    for seed in range(1, 4):
        given = arrays(seed)
        for name, values in given.items():
            tensors[name].copy_(on_gpu(torch, values))
        graph.replay()
        assert y.shape == (ROWS, COLUMNS)
        assert_right(given, on_host(y, given["x"].dtype), *(one.cpu().numpy() for one in lists))


def test_it_is_tuned_in_a_process_of_its_own(tmp_path):
    with (
        WorkerDevice(partial(device_with_probe, "0")) as device,
        TuningDB(str(tmp_path / "tuning.sqlite3")) as database,
    ):
        found = tune(OPERATOR, PROBLEM, device, database, TuneOptions(trials=3, compile_workers=1))
    assert found.by_status == {Status.OK: 3}
