"""Kernels that keep something in a workspace, launched by threads on their own default streams."""

from contextlib import nullcontext
from itertools import islice
from threading import Barrier, Thread

import numpy as np
import pytest
from cuda.bindings import driver

from autotune.base.cuda_core import handle_return
from autotune.codegen.model.tensor import Role
from autotune.compiler import compile_kernel
from autotune.contract.operator_cases import NAMES, SPEC, cases_of
from autotune.dispatcher.calls.arguments import Template
from autotune.dispatcher.targets import workspaces
from autotune.dispatcher.targets.gpu import Gpu, _GpuKernel
from autotune.dispatcher.targets.workspaces import Workspaces
from autotune.search_spaces.contract.registry import operator
from autotune.verification import launch_arrays

PER_THREAD = 2  # CU_STREAM_PER_THREAD
WITH_WORKSPACE = ("sgemm", "reduce", "norm_backward", "scan", "gemm", "gemv")  # others may have one
_LAUNCHES, _BATCH = 10_000, 100
_KERNELS = 4  # of each operator


def with_workspace(name):
    """Problems and kernels of an operator that use a workspace and compute the same bits each time."""
    for problem, schedule in cases_of(name).CASES:
        program = operator(name).program(problem, schedule, SPEC)
        if program.workspace_bytes and problem.deterministic:
            yield problem, program


def in_two_threads(work):
    """Do it in two threads that live at the same time; raise what one of them raises."""
    together, errors = Barrier(2), list[BaseException]()

    def run():
        try:
            work()
        except BaseException as error:
            errors.append(error)
        together.wait()

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


@pytest.mark.parametrize("name", NAMES)
def test_threads_share_no_workspace_on_their_own_default_streams(name, monkeypatch):
    """With a stand-in for the driver: each allocation has an address of its own."""
    found = next(with_workspace(name), None)
    if found is None:
        assert name not in WITH_WORKSPACE
        return
    success, allocated, launched = driver.CUresult.CUDA_SUCCESS, list[int](), list[int]()

    class Loaded:
        def bound(self, packed):
            return lambda stream: launched.append(packed.workspace)

    class Context(nullcontext[None]):
        current = True

    monkeypatch.setattr(driver, "cuMemAlloc", lambda size: (success, 4096 * (allocated.append(size) or len(allocated))))
    monkeypatch.setattr(driver, "cuMemsetD8Async", lambda *_: (success,))
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda stream: workspaces._NOT_CAPTURED)
    monkeypatch.setattr("autotune.dispatcher.targets.gpu.encoder", lambda *_: lambda address: None)
    context = Context()
    loaded = Loaded()
    kernel = _GpuKernel(loaded, context, found[1], Workspaces(context))
    template = Template(found[1], kernel, lambda tensor_map, memory: lambda address: None)

    def launch():
        arguments = template.arguments()
        arguments.launch(PER_THREAD)
        arguments.launch(PER_THREAD)

    in_two_threads(launch)
    assert sorted(launched) == [4096, 4096, 8192, 8192]


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_no_bit_differs_in_threads_on_their_own_default_streams(name):
    gpu = Gpu(0)
    for problem, program in islice(with_workspace(name), _KERNELS):
        template = Template(program, gpu.load(problem, program, compile_kernel), gpu.encoder)
        with gpu._context:
            (expected,) = _Launches(problem, template).batches(1)
            wrong = list[str]()

            def launch(problem=problem, template=template, expected=expected, wrong=wrong):
                with gpu._context:
                    for number, found in enumerate(_Launches(problem, template).batches(_LAUNCHES // _BATCH)):
                        wrong += [
                            f"{output} of batch {number}"
                            for output in found
                            if found[output].tobytes() != expected[output].tobytes()
                        ]

            in_two_threads(launch)
        assert wrong == [], f"{problem.key} by {program.name}"


class _Launches:
    """A problem's arrays in device memory: outputs once for each launch of a batch, inputs once."""

    def __init__(self, problem, template):
        self._problem = problem
        arrays = launch_arrays(problem, seed=1)
        self._inputs = [t for t in problem.tensors if t.role is Role.INPUT]
        self._outputs = [t for t in problem.tensors if t.role is not Role.INPUT]
        self._initial = {
            t.name: np.tile(_padded(arrays[t.name]), 1 if t in self._inputs else _BATCH) for t in problem.tensors
        }
        self._at = {
            name: int(handle_return(driver.cuMemAlloc(max(1, values.nbytes)))) for name, values in self._initial.items()
        }
        for tensor in self._inputs:
            self._upload(tensor.name)
        names = (*self._at, *problem.scalars)
        self._arguments, self._fill = template.arguments(), template.filler(names)

    def batches(self, count):
        """The outputs of launches on this thread's default stream, which are all to be the same."""
        for _ in range(count):
            for tensor in self._outputs:
                self._upload(tensor.name)
            for launch in range(_BATCH):
                apart = {t.name: launch * self._initial[t.name].nbytes // _BATCH for t in self._outputs}
                addresses = [at + apart.get(name, 0) for name, at in self._at.items()]
                self._fill(self._arguments, (*addresses, *self._problem.scalars.values()))
                self._arguments.launch(PER_THREAD)
            found = {}
            for tensor in self._outputs:
                values = found[tensor.name] = np.empty_like(self._initial[tensor.name])
                at = self._at[tensor.name]
                handle_return(driver.cuMemcpyDtoHAsync(values.ctypes.data, at, values.nbytes, PER_THREAD))
            handle_return(driver.cuStreamSynchronize(PER_THREAD))
            yield found
        for at in self._at.values():
            driver.cuMemFree(at)

    def _upload(self, name):
        values = self._initial[name]
        handle_return(driver.cuMemcpyHtoDAsync(self._at[name], values.ctypes.data, values.nbytes, PER_THREAD))


def _padded(values):
    """Bytes, a multiple of 256 of them, so that all copies are aligned alike."""
    data = np.frombuffer(values.tobytes(), np.uint8)
    return np.concatenate([data, np.zeros(-len(data) % 256, np.uint8)])
