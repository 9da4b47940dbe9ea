"""``tables.hpp``: records, times, programs and launches of an export, as functions of the sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import laid_out
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap
from autotune.db.states import TimeSource
from autotune.devices.tensor_maps import SWIZZLES, type_of
from autotune.dispatcher.choice.choose import RECORD_TIE
from autotune.dispatcher.choice.modelled import TIE
from autotune.dispatcher.choice.records import Record
from autotune.dispatcher.choice.transfer import DOUBT, FARTHEST, LEAST_SECONDS
from autotune.search_spaces.contract.modelled_time import modelled_seconds

from .cpp import Writer
from .expressions import Expression
from .kernels import Kernel, Kernels
from .trace import Tree, mapped

_ADDRESS = "unsigned long long"  # a pointer in C++


def tables(exported: Kernels) -> str:
    """The content of ``tables.hpp``; times are hexadecimal, so that no bit is lost."""
    bundle, names = exported.bundle, list(exported.sizes)
    spec, count = bundle.spec, len(exported.kernels)
    digests = list(exported.programs)
    room = _room(exported)
    title = f"{bundle.operator.name} for {spec.name} ({spec.arch}): {len(bundle.records)} records, {count} schedules"
    functions = [_function("double roofline(const Sizes& sizes)", exported.least_seconds, _returned)]
    for number, kernel in enumerate(exported.kernels):
        functions += _functions(number, kernel, digests, exported)
    rules = (FARTHEST, DOUBT, TIE, RECORD_TIE, LEAST_SECONDS)
    most = " && ".join(f"sizes.{name} >= 1 && sizes.{name} <= {bundle.most[name]}LL" for name in names)
    return f"""#pragma once
#include <array>

#include "numbers.hpp"
#include "plan.hpp"
#include "selector.hpp"
// {title}, by autotune.

namespace autotune {{

struct Sizes {{
  long long {", ".join(names)};
}};

using Plan = PlanOf<{", ".join(map(str, room))}>;

constexpr const char* entries[] = {{{", ".join(f'"{entry}"' for entry in entries(exported))}}};
constexpr int entry_count = {len(entries(exported))};
constexpr const char* programs[] = {{
{_lines([f'"{file_name(digest)}"' for digest in digests])}
}};
constexpr int program_count = {len(digests)};
constexpr Rules rules = {{{", ".join(float(one).hex() for one in rules)}}};
constexpr std::array<Record<{len(names)}>, {len(bundle.records)}> records = {{{{
{_lines([_record(exported, record) for record in bundle.records])}
}}}};
constexpr Tables<{len(names)}> tables = {{records.data(), {len(bundle.records)}, {len(bundle.schedules)}}};

inline bool served(const Sizes& sizes) {{
  return {most};
}}

{"".join(functions)}
constexpr double (*seconds_of[])(const Sizes&) = {{{_names("seconds", count)}}};
constexpr int (*program_of[])(const Sizes&) = {{{_names("program", count)}}};
constexpr void (*plan_of[])(const Sizes&, Plan&) = {{{_names("plan", count)}}};

inline Choice choose(const Sizes& sizes) {{
  if (!served(sizes)) return {{-1, -1}};
{_problem_sizes(exported)}
  return select(rules, tables, array, roofline(sizes), [&](int schedule) {{
    const double seconds = seconds_of[schedule](sizes);
    return seconds >= 0 && program_of[schedule](sizes) >= 0 ? seconds : -1.0;
  }});
}}

inline bool plan_for(const Sizes& sizes, Plan& plan) {{
  const int schedule = choose(sizes).schedule;
  if (schedule < 0) return false;
  plan_of[schedule](sizes, plan);
  return true;
}}

}}  // namespace autotune
"""


def file_name(digest: str) -> str:
    """The file of a source's cubin."""
    return f"{digest[:16]}.cubin"


def entries(exported: Kernels) -> list[str]:
    """The names of all entries that are launched."""
    return list(dict.fromkeys(entry for program in exported.programs.values() for entry in program.entries))


def _problem_sizes(exported: Kernels) -> str:
    writer = Writer()
    numbers = [writer.number(size, "long long") for size in exported.problem_sizes]
    writer.line(f"const long long array[] = {{{', '.join(numbers)}}};")
    return "\n".join(writer.lines)


def _functions(number: int, kernel: Kernel, digests: Sequence[str], exported: Kernels) -> list[str]:
    """The modelled time, the program and the launches of a schedule."""

    def program(writer: Writer, value: int) -> None:
        writer.line(f"return {value};")

    def plan(writer: Writer, value: Program | None) -> None:
        if value is not None:
            _write_plan(writer, value, digests, exported)

    found = mapped(kernel.program, lambda one: -1 if one is None else digests.index(one.parts[0].source_digest))
    return [
        f"// {kernel.schedule}\n",
        _function(f"double seconds_{number}(const Sizes& sizes)", kernel.seconds, _returned),
        _function(f"int program_{number}(const Sizes& sizes)", found, program),
        _function(f"void plan_{number}(const Sizes& sizes, Plan& plan)", kernel.program, plan),
    ]


def _room(exported: Kernels) -> tuple[int, int, int, int, int]:
    """The most that a program has: bytes of arguments, tensor maps, addresses, scalars, steps."""
    found = []
    for program in exported.whole_programs:
        members = [one for block in program.blocks for one in block]
        maps = sum(one.tensor_map is not None for one in members)
        addresses = sum(one.pointer and bool(one.brought) for one in members)
        scalars = sum(one.scalar for one in members)
        found.append((laid_out(program.blocks)[1][-1], maps, addresses, scalars, len(program.unrolled)))
    return tuple(map(max, zip(*found, strict=True)))


def _write_plan(writer: Writer, program: Program, digests: Sequence[str], exported: Kernels) -> None:
    kinds, begins = laid_out(program.blocks)
    names = [one.name for one in exported.scalars]
    for begin, kind, block in zip(begins, kinds, program.blocks, strict=False):
        for one in block:
            position = begin + getattr(kind, member(one.name)).offset
            if one.tensor_map:
                writer.line(f"plan.add({position}, {_tensor_map(writer, one.tensor_map, exported.addresses)});")
            elif one.value is not None:
                cuda_type = _ADDRESS if one.pointer else one.cuda_type
                writer.line(f"plan.put<{cuda_type}>({position}, {_cast(writer, cuda_type, one.value)});")
            elif one.pointer:
                tensor, offset = exported.addresses.index(one.brought), _cast(writer, "long long", one.offset)
                writer.line(f"plan.add(Address{{{position}, {tensor}, {offset}}});")
            else:
                number = names.index(one.brought)
                writer.line(f"plan.add(Scalar{{{position}, {number}, sizeof({one.cuda_type})}});")
    writer.line(f"plan.workspace_bytes = {writer.number(program.workspace_bytes)};")
    modules = [digests.index(part.source_digest) for part in program.parts]
    numbers = iter(begins[:-1] if not program.plain else begins[:1] * len(program.launches))
    for step in program.unrolled:
        if isinstance(step, Memset):
            part = ", ".join(writer.number(one) for one in (step.offset, step.bytes))
            writer.line(f"plan.add(Step{{-1, 0, 0, {{}}, {{}}, 0, {part}, {step.value}}});")
        else:
            where = f"{entries(exported).index(step.entry)}, {modules[step.module]}, {next(numbers)}"
            writer.line(f"plan.add(Step{{{where}, {_dimensions(writer, step)}, 0, 0, 0}});")


def _dimensions(writer: Writer, step: Launch) -> str:
    grid, block = (", ".join(_cast(writer, "unsigned", one) for one in extents) for extents in (step.grid, step.block))
    return f"{{{grid}}}, {{{block}}}, {_cast(writer, 'unsigned', step.shared_bytes)}"


def _tensor_map(writer: Writer, tensor_map: TensorMap, addresses: Sequence[str]) -> str:
    def group(kind: str, numbers: Iterable[Any]) -> str:
        return f"{{{', '.join(_cast(writer, kind, one) for one in numbers)}}}"

    element_bytes = DType(tensor_map.dtype).bytes
    words = [
        addresses.index(tensor_map.tensor),
        int(type_of(tensor_map)),
        int(SWIZZLES[tensor_map.swizzle]),
        len(tensor_map.shape),
        group("std::uint64_t", reversed(tensor_map.shape)),
        group("std::uint64_t", (element_bytes * one for one in reversed(tensor_map.strides[:-1]))),
        group("std::uint32_t", reversed(tensor_map.box)),
        _cast(writer, "long long", tensor_map.offset),
        *_im2col(tensor_map, group),
    ]
    return f"{{{', '.join(map(str, words))}}}"


def _im2col(tensor_map: TensorMap, group: Callable[[str, Iterable[Any]], str]) -> Iterator[str]:
    pixels = tensor_map.im2col
    yield _bool(pixels is not None)
    yield group("int", reversed(pixels.lower) if pixels else ())
    yield group("int", reversed(pixels.upper) if pixels else ())
    yield group("std::uint32_t", (1, *reversed(pixels.steps), 1) if pixels else [1] * len(tensor_map.shape))


def _cast(writer: Writer, kind: str, value: Any) -> str:
    """A number as another type; a plain one as it is."""
    return f"static_cast<{kind}>({writer.number(value)})" if isinstance(value, Expression) else str(value)


def _returned(writer: Writer, value: Any) -> None:
    writer.line("return -1;" if value is None else f"return {writer.number(value)};")


def _function(signature: str, tree: Tree[Any], write: Any) -> str:
    writer = Writer()
    writer.tree(tree, write)
    body = "\n".join(writer.lines)
    if "sizes" not in body:
        signature = signature.replace("const Sizes& sizes", "const Sizes&")  # else a compiler warns
    return f"inline {signature} {{\n{body}\n}}\n\n"


def _record(exported: Kernels, record: Record) -> str:
    bundle = exported.bundle
    sizes = ", ".join(map(str, bundle.sizes(record.problem).values()))
    modelled = modelled_seconds(bundle.operator, record.problem, record.schedule, bundle.spec)
    schedule = bundle.all_schedules.index(record.schedule)
    flags = map(_bool, (record.time_source is TimeSource.MODELLED, record.own_only, record.unconfirmed))
    return f"{{{{{sizes}}}, {schedule}, {record.seconds.hex()}, {modelled.hex()}, {', '.join(flags)}}}"


def _names(name: str, count: int) -> str:
    return ", ".join(f"{name}_{number}" for number in range(count))


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _lines(rows: list[str]) -> str:
    return ",\n".join(f"    {row}" for row in rows)
