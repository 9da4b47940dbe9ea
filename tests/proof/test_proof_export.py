"""The probe in C++: several launches with a memset between them; tensor maps."""

import os
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from export.exports import asked_sizes, chosen_in_cpp, chosen_in_python, drawn
from probe import OPERATOR, ProbeSchedule

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.im2col import Im2col
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.packing import packed
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES
from autotune.contract.nvrtc import INCLUDE
from autotune.devices.tensor_maps import SWIZZLES, TYPES
from autotune.export import TraceError, write
from autotune.export.tables import tables

SIZES = ("rows", "columns")
_PRINTED = TENSOR_MAP_BYTES + 48  # bytes of each launch's arguments: the tensor map, pointers, numbers


def drawn_probe(*ways, emit=OPERATOR.emit):
    """With tensor copies, without, or with and without."""
    schedules = [ProbeSchedule(rows, tensor_copy=way) for rows in (8, 16, 32) for way in ways]
    probe = replace(OPERATOR, default=lambda *_: schedules[0]).with_kernels(candidates=lambda *_: schedules, emit=emit)
    return drawn(probe, 4, SIZES)


def test_launches_memsets_and_tensor_maps_are_those_of_python(tmp_path):
    """Each launch has a source and arguments of its own, which differ from schedule to schedule."""
    exported = drawn_probe(False, True)
    asked = asked_sizes(exported)
    expected = [chosen_in_python(exported, sizes) for sizes in asked]
    chosen = [line for line in expected if line != "-1"]
    assert chosen and all(" set " in line and line.count("probe") > 1 for line in chosen)
    assert {" map " in line for line in chosen} == {False, True}
    assert chosen_in_cpp(exported, asked, tmp_path, tables(exported)) == expected


def test_a_scalar_has_one_type():
    def emit(problem, schedule):
        program = OPERATOR.emit(problem, schedule)
        kind = "float" if schedule.tensor_copy else "double"
        return replace(program, arguments=(*program.arguments, Argument("eps", kind)))

    with pytest.raises(TraceError, match=r"eps is (double and float|float and double): expected one type"):
        tables(drawn_probe(False, True, emit=emit))


@pytest.mark.parametrize("pixels", [None, Im2col((-3,), (-2,), (2,))], ids=["boxes", "pixels"])
def test_cpp_packs_what_python_packs(pixels, tmp_path):
    """Here x begins 48 bytes behind the address that a call brings."""
    emit_behind = partial(_emit_behind, pixels)
    exported = drawn_probe(True, emit=emit_behind)
    write.write_sources(exported, tmp_path)
    driver = Path(__file__).parent / "printing_driver.cpp"
    compiler = [os.environ.get("CXX", "g++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", INCLUDE, "-I."]
    subprocess.run([*compiler, f"-DPRINTED={_PRINTED}", "probe.cpp", driver, "-o", "launch"], cwd=tmp_path, check=True)
    printed = subprocess.run(["./launch"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    sizes = {"rows": 100, "columns": 200}
    serving = exported.serving(sizes)
    assert serving
    program = emit_behind(exported.bundle.problem(sizes), serving[0])
    pointers = {name: 0x1000 * number for number, name in enumerate(exported.addresses, 1)}
    blocks = [bytes(packed("", block, pointers, {}, _encoded)).hex() for block in program.blocks]
    assert printed == [block[: 2 * _PRINTED] for block in blocks]
    assert len(set(printed)) == 2


def _emit_behind(pixels, problem, schedule):
    """With a map of boxes, or of the rows of one image."""
    program = OPERATOR.emit(problem, schedule)
    described = program.arguments[0].tensor_map
    assert described
    behind = replace(described, offset=48)
    if pixels:
        shape, strides = (1, *behind.shape), (problem.rows * problem.ldx, *behind.strides)
        behind = replace(behind, shape=shape, strides=strides, im2col=pixels)
    steps = [one.taking(x_map=behind) if isinstance(one, Launch) else one for one in program.steps]
    return replace(program, steps=tuple(steps))


def _encoded(tensor_map, address):
    """As printing_driver.cpp does it."""
    dtype = DType(tensor_map.dtype)
    words = [address, int(TYPES[dtype]), int(SWIZZLES[tensor_map.swizzle]), len(tensor_map.shape)]
    if pixels := tensor_map.im2col:
        corners = zip(pixels.lower, pixels.upper, pixels.steps, strict=True)
        words += [*reversed(tensor_map.shape), tensor_map.strides[-2] * dtype.bytes, *reversed(tensor_map.box)]
        words += [(100 * low + 10 * high + step) % 2**64 for low, high, step in corners]
        return b"".join(word.to_bytes(8, "little") for word in words).ljust(TENSOR_MAP_BYTES, b"\0")
    strides = [[stride * dtype.bytes] for stride in reversed(tensor_map.strides[:-1])]
    for size, stride, box in zip(reversed(tensor_map.shape), [*strides, []], reversed(tensor_map.box), strict=True):
        words += [size, *stride, box]
    return b"".join(word.to_bytes(8, "little") for word in words).ljust(TENSOR_MAP_BYTES, b"\0")
