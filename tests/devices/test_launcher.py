"""What the driver is told at each launch; it is a stand-in, and so is the kernel's code."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from autotune.codegen.program import Argument, Launch, Program
from autotune.compiler import CompiledKernel, Resources
from autotune.devices import launcher
from autotune.devices.launcher import LoadedProgram

SOURCE = Program("", (Argument("x", "int"),), (Launch("entry", (3, 1, 1), (64, 1, 1)),))


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
