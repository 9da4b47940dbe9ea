"""What the driver is told at each launch; it is a stand-in, and so is the kernel's code."""

import ctypes
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from autotune.base.cuda_core import CUDAError
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.program import Program
from autotune.codegen.model.resources import Resources
from autotune.compiler import CompiledKernel
from autotune.devices import launcher
from autotune.devices.launcher import LoadedProgram

SOURCE = Program("", (Argument("x", "int"),), (Launch("entry", (3, 1, 1), (64, 1, 1)),))

OK = launcher.driver.CUresult.CUDA_SUCCESS


def test_what_the_driver_must_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    code = SimpleNamespace(get_kernel=lambda entry: SimpleNamespace(handle=1))
    monkeypatch.setattr(launcher, "ObjectCode", SimpleNamespace(from_cubin=lambda cubin, name: code))
    monkeypatch.setattr(launcher.driver, "cuCtxGetDevice", lambda: (OK, 0))
    monkeypatch.setattr(
        launcher.driver, "cuKernelSetAttribute", lambda name, value, *_: asked.append((name.name, value)) or (OK,)
    )
    for sizes in ([(1, 0)], [(8, 0)], [(1, 5), (16, 60000)]):
        steps = tuple(Launch("entry", (16, 1, 1), (64, 1, 1), shared, (blocks, 1, 1)) for blocks, shared in sizes)
        LoadedProgram(CompiledKernel(b"", Resources(1), "sm_90", ""), replace(SOURCE, steps=steps))
    assert asked == [
        ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 60000),
        ("CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1),
    ]


def test_each_launch_goes_to_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    said = []

    def launched(config: Any, function: Any, parameters: int, extra: int) -> tuple[int]:
        packed = ctypes.cast(ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))[0], ctypes.POINTER(ctypes.c_int))
        said.append((int(config.hStream), config.gridDimX, packed[0]))
        return (0,)

    code = SimpleNamespace(get_kernel=lambda entry: SimpleNamespace(handle=1))
    monkeypatch.setattr(launcher, "ObjectCode", SimpleNamespace(from_cubin=lambda cubin, name: code))
    monkeypatch.setattr(launcher.driver, "cuLaunchKernelEx", launched)
    packed = SOURCE.pack({}, {"x": 5})
    launch = LoadedProgram(CompiledKernel(b"", Resources(1), "sm_90", ""), SOURCE).bound(packed)
    for stream in (7, 7, 9, 0, 1, 7):
        launch(stream)
    packed.x = 6
    launch(7)
    assert said == [(stream, 3, 5) for stream in (7, 7, 9, 0, 1, 7)] + [(7, 3, 6)]


def test_steps_are_queued_in_their_order_but_for_empty_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[Any, ...]] = []
    code = SimpleNamespace(get_kernel=lambda entry: SimpleNamespace(handle=1))
    monkeypatch.setattr(launcher, "ObjectCode", SimpleNamespace(from_cubin=lambda cubin, name: code))
    monkeypatch.setattr(launcher.driver, "cuMemsetD8Async", lambda *told: said.append(told) or (OK,))

    def launched(config: Any, *_: Any) -> tuple[Any]:
        said.append((config.gridDimX,))
        return (OK,)

    monkeypatch.setattr(launcher.driver, "cuLaunchKernelEx", launched)
    launches = [Launch("entry", (blocks, 1, 1), (64, 1, 1)) for blocks in (3, 0)]
    program = Program("", (Argument("workspace", "void*"),), (Memset(8, 4, 1), *launches, Memset(0, 2)), 16)
    loaded = LoadedProgram(CompiledKernel(b"", Resources(1), "sm_90", ""), program)
    loaded.launch(7, program.pack({"workspace": 0x100}, {}))
    assert said == [(0x108, 1, 4, 7), (3,), (0x100, 0, 2, 7)]


def test_a_launch_that_the_driver_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def handled(result: tuple[Any]) -> None:
        raise CUDAError(result[0].name)

    refused = launcher.driver.CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    monkeypatch.setattr(launcher, "handle_return", handled)
    code = SimpleNamespace(get_kernel=lambda entry: SimpleNamespace(handle=1))
    monkeypatch.setattr(launcher, "ObjectCode", SimpleNamespace(from_cubin=lambda cubin, name: code))
    monkeypatch.setattr(launcher.driver, "cuLaunchKernelEx", lambda *_: (refused,))
    loaded = LoadedProgram(CompiledKernel(b"", Resources(1), "sm_90", ""), SOURCE)
    with pytest.raises(CUDAError, match="OUT_OF_RESOURCES"):
        loaded.launch(7, SOURCE.pack({}, {"x": 5}))
