"""Exports of drawn records, and what they choose in C++ and in Python."""

import ctypes
import os
import random
import subprocess
from pathlib import Path

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Memset
from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import laid_out, packed
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES
from autotune.db.states import TimeSource
from autotune.devices.tensor_maps import SWIZZLES, TYPES
from autotune.dispatcher.choice.records import Record
from autotune.export import bundle_of, kernels_of, write
from autotune.export.choice import drawn_sizes
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
COUNT = 60  # sizes
SOURCES = Path(write.__file__).parent
ASK = """
#include <cstdio>
#include "choose.hpp"
int main() {
  autotune::Sizes sizes;
  while (std::scanf("@FORMATS@", @ADDRESSES@) == @COUNT@) {
    auto& [schedule, plan] = autotune::chosen(sizes);
    std::printf("%d", schedule);
    if (!plan.steps.empty()) {
      std::printf(" %lld ", plan.workspace_bytes);
      for (const auto& one : plan.taken) {
        const long long brought = 0x1000 * (one.number + 1) * (one.number < @ADDRESS_COUNT@);
        plan.put(one.position, one.bytes, &brought, one.offset);
      }
      for (const auto& line : plan.arguments)
        for (unsigned char byte : line.bytes) std::printf("%02x", byte);
      for (const auto& one : plan.taken)
        if (one.number >= @ADDRESS_COUNT@)
          std::printf(" %d %d %d", one.position, one.number - @ADDRESS_COUNT@, one.bytes);
      for (const autotune::TensorMap& map : plan.maps) {
        std::printf(" map %d %d", map.position, map.tensor);
        std::printf(" %d %d %lld", map.type, map.swizzle, map.offset);
        for (int axis = 0; axis < map.rank; ++axis)
          std::printf(" %lu %lu %u", map.shape[axis], map.strides[axis], map.box[axis]);
      }
      for (const autotune::Step& step : plan.steps) {
        if (step.entry < 0) std::printf(" set %lld %lld %d", step.offset, step.bytes, step.value);
        else {
          std::printf(" %s %s %d", autotune::entries[step.entry], autotune::programs[step.program], step.arguments);
          for (int axis = 0; axis < 3; ++axis) std::printf(" %u %u", step.grid[axis], step.block[axis]);
          std::printf(" %u", step.shared_bytes);
        }
      }
    }
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
    """Sizes of the problems, and others that were not drawn for the export."""
    bundle = exported.bundle
    return [*map(bundle.sizes, bundle.problems), *drawn_sizes(bundle, COUNT, seed=1)]


def chosen_in_cpp(exported, sizes, folder, tables):
    """A line for each problem: the schedule by number, and what is launched."""
    names = list(exported.bundle.most)
    ask = (
        ASK.replace("@ADDRESS_COUNT@", str(len(exported.addresses)))
        .replace("@FORMATS@", "%lld " * len(names))
        .replace("@COUNT@", str(len(names)))
    )
    (folder / "ask.cpp").write_text(
        ask.replace("@ADDRESSES@", ", ".join(f"&sizes[{one}]" for one in range(len(names))))
    )
    (folder / "tables.hpp").write_text(tables)
    compiler = [os.environ.get("CXX", "g++"), "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"]
    command = [*compiler, f"-I{SOURCES}", f"-I{folder}", str(folder / "ask.cpp"), "-o", str(folder / "ask")]
    subprocess.run(command, check=True)
    asked = "\n".join(" ".join(map(str, one.values())) for one in sizes)
    return subprocess.run([folder / "ask"], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()


def chosen_in_python(exported, sizes):
    """The same line, with what Python emits for these sizes."""
    bundle, serving = exported.bundle, exported.serving(sizes)
    if serving is None:
        return "-1"
    program = bundle.operator.program(bundle.problem(sizes), serving[0], bundle.spec)
    pointers = {name: 0x1000 * number for number, name in enumerate(exported.addresses, 1)}
    names = [one.name for one in exported.scalars]
    words = [str(bundle.all_schedules.index(serving[0])), str(program.workspace_bytes)]
    kinds, begins = laid_out(program.blocks)
    arguments, scalars, maps = b"", list[str](), list[str]()
    for kind, begin, end, block in zip(kinds, begins[:-1], begins[1:], program.blocks, strict=True):
        filled = bytes(packed("", block, pointers, dict.fromkeys(names, 0), lambda *_: bytes(TENSOR_MAP_BYTES)))
        arguments += filled.ljust(end - begin, b"\0")
        for one in block:
            at = begin + getattr(kind, member(one.name)).offset
            if one.tensor_map:
                maps += ["map", str(at), *_words(one.tensor_map, exported.addresses)]
            elif one.scalar:
                scalars += [str(at), str(names.index(one.brought)), str(ctypes.sizeof(one.ctype))]
    words += [arguments.hex(), *scalars, *maps]
    own = iter(begins if not program.plain else [0] * len(program.launches))
    for step in program.unrolled:
        if isinstance(step, Memset):
            words += ["set", str(step.offset), str(step.bytes), str(step.value)]
        else:
            extents = [extent for pair in zip(step.grid, step.block, strict=True) for extent in pair]
            file = f"{program.parts[step.module].source_digest[:16]}.cubin"
            words += [step.entry, file, str(next(own)), *map(str, extents), str(step.shared_bytes)]
    return " ".join(words)


def _words(tensor_map, addresses):
    dtype = DType(tensor_map.dtype)
    strides = [stride * dtype.bytes for stride in reversed(tensor_map.strides[:-1])]
    axes = zip(reversed(tensor_map.shape), [*strides, 0], reversed(tensor_map.box), strict=True)
    kinds = int(TYPES[dtype]), int(SWIZZLES[tensor_map.swizzle])
    numbers = [addresses.index(tensor_map.tensor), *kinds, tensor_map.offset, *(one for axis in axes for one in axis)]
    return [*map(str, numbers)]
