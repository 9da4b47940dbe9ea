"""Exports of drawn records, and what they launch in C++ and in Python."""

import ctypes
import os
import random
import re
import subprocess
from pathlib import Path

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Memset
from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import laid_out, packed
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES
from autotune.contract.nvrtc import INCLUDE
from autotune.db.states import TimeSource
from autotune.devices.tensor_maps import SWIZZLES, TYPES
from autotune.dispatcher.choice.records import Record
from autotune.export import bundle_of, kernels_of, write
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
COUNT = 60  # sizes
_ASK = """
#include "printing_driver.hpp"

#include "driver.hpp"
int main() {
@DECLARED@
  const void* brought[] = {@BROUGHT@};
  autotune::load("");
  autotune::Sizes sizes;
  for (std::size_t read = 0; std::scanf("%lld", &sizes[read % sizes.size()]) == 1;) {
    if (++read % sizes.size() != 0) continue;
    const autotune::Chosen& chosen = autotune::chosen(sizes);
    std::printf("%d %zu", chosen.schedule, chosen.workspace_bytes);
    const CUresult result = autotune::run(sizes, {brought, workspace, nullptr});
    if (result != (chosen.schedule < 0 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS)) std::printf(" failed");
    std::puts("");
  }
}
"""


def drawn(op, records, sizes, **fixed):
    """An export of records with what a search would try first, and of one problem without a record."""
    draw, known = random.Random(2), []
    for number in range(records):
        problem = _fitted(op, {size: 4 * int(2 ** draw.uniform(2, 11)) for size in sizes} | fixed)
        schedule = draw.choice(op.seeds(problem, H200))
        seconds = modelled_seconds(op, problem, schedule, H200) * draw.uniform(0.8, 1.2)
        source = TimeSource.MODELLED if number % 3 == 2 else TimeSource.MEASURED
        known.append(Record(problem, schedule, seconds, source, unconfirmed=number % 4 == 1))
    lacking = _fitted(op, dict.fromkeys(sizes, 300) | fixed)
    return kernels_of(bundle_of(op, [*(record.problem for record in known), lacking], H200, known), count=COUNT)


def _fitted(op, fields):
    return op.problem_type(**op.problem_type.fitted(fields))


def asked_sizes(exported):
    """Sizes of the problems, others that were not drawn for the export, and the largest, beyond the doubles of C++."""
    bundle = exported.bundle
    return [*map(bundle.sizes, bundle.problems), *bundle.drawn_sizes(COUNT, seed=1), bundle.fitted(bundle.most)]


def launched_in_cpp(exported, sizes, folder, tables):
    """A line for each problem: the schedule by number, the workspace, and what is launched."""
    declared = {name: ("CUdeviceptr", address) for name, address in _addresses(exported).items()}
    declared |= {one.name: (one.cuda_type, _scalars(exported)[one.name]) for one in exported.scalars}
    structs = [kind for program in exported.programs.values() for kind in laid_out(program.blocks)[0]]
    ask = _ASK.replace(
        "@DECLARED@", "\n".join(f"  const {kind} {member(name)} = {value};" for name, (kind, value) in declared.items())
    ).replace("@BROUGHT@", ", ".join(f"&{member(name)}" for name in exported.brought))
    (folder / "ask.cpp").write_text(ask)
    (folder / "tables.hpp").write_text(tables)
    compiler = [os.environ.get("CXX", "g++"), "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", INCLUDE]
    includes = [f"-I{path}" for path in (Path(write.__file__).parent, Path(__file__).parent, folder)]
    most = max(map(ctypes.sizeof, structs))
    subprocess.run([*compiler, *includes, f"-DARGUMENT_BYTES={most}", "ask.cpp", "-o", "ask"], cwd=folder, check=True)
    asked = "\n".join(" ".join(map(str, one.values())) for one in sizes)
    return subprocess.run([folder / "ask"], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()


def launched_in_python(exported, sizes):
    """A pattern of the same line, with what Python emits for these sizes; padding is any."""
    bundle, serving = exported.bundle, exported.serving(sizes)
    if serving is None:
        return "-1 0"
    program = bundle.operator.program(bundle.problem(sizes), serving[0], bundle.spec)
    words = [str(bundle.all_schedules.index(serving[0])), str(program.workspace_bytes)]
    blocks = iter(program.blocks)
    block = next(blocks) if program.plain else ()
    words += _maps(exported, block)
    for step in program.unrolled:
        if isinstance(step, Memset):
            words += ["set", f"{_addresses(exported)['workspace'] + step.offset:x}", str(step.bytes), str(step.value)]
            continue
        if not program.plain:
            block = next(blocks)
            words += _maps(exported, block)
        if step.blocks:
            words += [f"/{program.parts[step.module].source_digest[:16]}.cubin", step.entry]
            words += [*map(str, (*step.grid, *step.block, step.shared_bytes)), _packed(exported, block)]
    return " ".join(words)


def assert_launched_alike(exported, sizes, folder, tables):
    """Assert that C++ launches what Python emits, and return the patterns of the lines."""
    expected = [launched_in_python(exported, one) for one in sizes]
    found = launched_in_cpp(exported, sizes, folder, tables)
    for one, pattern, line in zip(sizes, expected, found, strict=True):
        assert re.fullmatch(pattern, line), f"{one}:\n{line}\n{pattern}"
    return expected


def _addresses(exported):
    """So far apart that a map which begins ahead of its tensor has an address."""
    return {name: (1 + number) << 44 for number, name in enumerate(exported.addresses)}


def _scalars(exported):
    return {name: 1 + number for number, name in enumerate(one.name for one in exported.scalars)}


def _packed(exported, block):
    """The bytes of a struct's members, with other bytes between them and behind."""
    filled = packed("", block, _addresses(exported), _scalars(exported), lambda *_: bytes(TENSOR_MAP_BYTES))
    found = [".."] * ctypes.sizeof(filled)
    for one in block:
        begin = getattr(type(filled), member(one.name)).offset
        for at in range(begin, begin + ctypes.sizeof(one.ctype)):
            found[at] = f"{bytes(filled)[at]:02x}"
    return "".join(found) + ".*?"


def _maps(exported, block):
    words = []
    for one in (argument.tensor_map for argument in block if argument.tensor_map):
        dtype, pixels = DType(one.dtype), one.im2col
        strides = [stride * dtype.bytes for stride in reversed(one.strides[:-1])]
        begin = _addresses(exported)[one.tensor] + one.offset
        words += ["pixels" if pixels else "map", hex(begin), int(TYPES[dtype]), int(SWIZZLES[one.swizzle])]
        boxes = [reversed(one.box), [1] * len(one.shape)]
        if pixels:
            words += reversed(one.box)
            boxes = [(1, *reversed(pixels.steps), 1)]
        words += [number for axis in zip(reversed(one.shape), [*strides, 0], *boxes, strict=True) for number in axis]
        if pixels:
            words += [one for axis in zip(reversed(pixels.lower), reversed(pixels.upper), strict=True) for one in axis]
    return [str(word) for word in words]
