"""The probe in C++: several launches with a memset between them; tensor maps."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cuda_toolkit import INCLUDE
from export.exports import chosen_in_cpp, chosen_in_python, drawn, drawn_sizes
from probe_kernel import ProbeSchedule
from probe_operator import OPERATOR

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES, TensorMap
from autotune.devices.tensor_maps import SWIZZLES, TYPES
from autotune.export import Kernels, TraceError, write
from autotune.export.tables import tables

SIZES = ("rows", "columns")


def drawn_probe(*ways: bool, emit: Callable[[Any, Any], Program] = OPERATOR.emit) -> Kernels:
    """With tensor copies, without, or with and without."""
    schedules = [ProbeSchedule(rows, tensor_copy=way) for rows in (8, 16, 32) for way in ways]
    probe = replace(OPERATOR, default=lambda *_: schedules[0]).with_kernels(candidates=lambda *_: schedules, emit=emit)
    return drawn(probe, 4, SIZES)


@pytest.mark.parametrize("tensor_copy", [False, True])
def test_launches_memsets_and_tensor_maps_are_those_of_python(tensor_copy: bool, tmp_path: Path) -> None:
    exported = drawn_probe(tensor_copy)
    asked = drawn_sizes(exported, 100)
    expected = [chosen_in_python(exported, sizes) for sizes in asked]
    chosen = [line for line in expected if line != "-1 -1"]
    assert chosen and all(" set " in line and line.count("probe") > 1 for line in chosen)
    assert all((" map " in line) is tensor_copy for line in chosen)
    assert chosen_in_cpp(exported, asked, tmp_path, tables(exported)) == expected


def test_programs_with_other_arguments_are_refused() -> None:
    with pytest.raises(TraceError, match="programs with different arguments are not exported"):
        tables(drawn_probe(False, True))


def test_cpp_packs_what_python_packs(tmp_path: Path) -> None:
    """Here x begins 48 bytes behind the address that a call brings."""
    exported = drawn_probe(True, emit=_emit_behind)
    write.write_sources(exported, tmp_path)
    driver = Path(__file__).parent / "printing_driver.cpp"
    compiler = [os.environ.get("CXX", "g++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", INCLUDE, "-I."]
    subprocess.run([*compiler, "probe.cpp", driver, "-o", "launch"], cwd=tmp_path, check=True)
    printed = subprocess.run(["./launch"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    problem = exported.bundle.problem({"rows": 100, "columns": 200})
    choice = exported.choice(problem)
    assert choice
    program = _emit_behind(problem, choice.schedule)
    pointers = {name: 0x1000 * number for number, name in enumerate(exported.addresses, 1)}
    packed = bytes(program.pack(pointers, {}, _encoded)).hex()
    assert printed == [packed[: len(printed[0])]] * len(program.launches)
    assert len(printed[0]) > 2 * TENSOR_MAP_BYTES


def _emit_behind(problem: Any, schedule: Any) -> Program:
    program = OPERATOR.emit(problem, schedule)
    described, *others = program.arguments
    assert described.tensor_map
    behind = replace(described, tensor_map=replace(described.tensor_map, offset=48))
    return replace(program, arguments=(behind, *others))


def _encoded(tensor_map: TensorMap, address: int) -> bytes:
    """As printing_driver.cpp does it."""
    dtype = DType(tensor_map.dtype)
    words = [address, int(TYPES[dtype]), int(SWIZZLES[tensor_map.swizzle]), len(tensor_map.shape)]
    strides = [[stride * dtype.bytes] for stride in reversed(tensor_map.strides[:-1])]
    for size, stride, box in zip(reversed(tensor_map.shape), [*strides, []], reversed(tensor_map.box), strict=True):
        words += [size, *stride, box]
    return b"".join(word.to_bytes(8, "little") for word in words).ljust(TENSOR_MAP_BYTES, b"\0")
