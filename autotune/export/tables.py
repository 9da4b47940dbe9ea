"""``tables.hpp``: records, times, programs and launches of an export, as functions of the sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Memset, Step
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
from .kernels import Kernel, Kernels, plain_arguments
from .trace import Tree, mapped

# Steps, values of the arguments, tensor maps, bytes of the workspace.
_Plan = tuple[tuple[Step, ...], tuple[Any, ...], tuple[TensorMap, ...], Any]


def tables(exported: Kernels) -> str:
    """The content of ``tables.hpp``; times are hexadecimal, so that no bit is lost."""
    bundle, names = exported.bundle, list(exported.sizes)
    limits, count = bundle.limits, len(exported.kernels)
    digests = list(exported.programs)
    steps = max(len(program.steps) for program in exported.programs.values())
    maps = max(len(_maps(program)) for program in exported.programs.values())
    title = (
        f"{bundle.operator.name} for {limits.name} ({limits.arch}): {len(bundle.records)} records, {count} schedules"
    )
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

{_arguments(exported.arguments)}

constexpr int most_maps = {maps};
struct Plan {{
  Arguments arguments;
  int map_count;
  std::array<TensorMap, most_maps> maps;
  int program;
  int step_count;
  Step steps[{steps}];
  long long workspace_bytes;
}};

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
  plan.program = program_of[schedule](sizes);
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

    def plan(writer: Writer, value: _Plan | None) -> None:
        if value is not None:
            _write_plan(writer, value, exported)

    found = mapped(kernel.program, lambda one: -1 if one is None else digests.index(one.source_digest))
    return [
        f"// {kernel.schedule}\n",
        _function(f"double seconds_{number}(const Sizes& sizes)", kernel.seconds, _returned),
        _function(f"int program_{number}(const Sizes& sizes)", found, program),
        _function(f"void plan_{number}(const Sizes& sizes, Plan& plan)", mapped(kernel.program, _plan), plan),
    ]


def _plan(program: Program | None) -> _Plan | None:
    if program is None:
        return None
    values = tuple(one.value for one in plain_arguments(program))
    return program.steps, values, _maps(program), program.workspace_bytes


def _maps(program: Program) -> tuple[TensorMap, ...]:
    return tuple(one.tensor_map for one in program.arguments if one.tensor_map)


def _write_plan(writer: Writer, plan: _Plan, exported: Kernels) -> None:
    steps, values, maps, workspace_bytes = plan
    for argument, value in zip(exported.arguments, values, strict=True):
        if value is not None:
            writer.line(f"plan.arguments.{argument.name} = {_cast(writer, argument.cuda_type, value)};")
    writer.line(f"plan.map_count = {len(maps)};")
    for number, tensor_map in enumerate(maps):
        writer.line(f"plan.maps[{number}] = {_tensor_map(writer, tensor_map, exported.addresses)};")
    writer.line(f"plan.workspace_bytes = {writer.number(workspace_bytes)};")
    writer.line(f"plan.step_count = {len(steps)};")
    for number, step in enumerate(steps):
        writer.line(f"plan.steps[{number}] = {_step(writer, step, entries(exported))};")


def _step(writer: Writer, step: Step, names: Sequence[str]) -> str:
    if isinstance(step, Memset):
        return f"{{-1, {{}}, {{}}, 0, {writer.number(step.offset)}, {writer.number(step.bytes)}, {step.value}}}"
    grid, block = (", ".join(_cast(writer, "unsigned", one) for one in extents) for extents in (step.grid, step.block))
    shared = _cast(writer, "unsigned", step.shared_bytes)
    return f"{{{names.index(step.entry)}, {{{grid}}}, {{{block}}}, {shared}, 0, 0, 0}}"


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
    ]
    return f"{{{', '.join(map(str, words))}}}"


def _cast(writer: Writer, kind: str, value: Any) -> str:
    """A number as another type; a plain one as it is."""
    return f"static_cast<{kind}>({writer.number(value)})" if isinstance(value, Expression) else str(value)


def _returned(writer: Writer, value: Any) -> None:
    writer.line("return -1;" if value is None else f"return {writer.number(value)};")


def _function(signature: str, tree: Tree[Any], write: Any) -> str:
    writer = Writer()
    writer.tree(tree, write)
    body = "\n".join(writer.lines)
    return f"inline {signature} {{\n{body}\n}}\n\n"


def _record(exported: Kernels, record: Record) -> str:
    bundle = exported.bundle
    sizes = ", ".join(map(str, bundle.sizes(record.problem).values()))
    modelled = modelled_seconds(bundle.operator, record.problem, record.schedule, bundle.limits)
    schedule = bundle.all_schedules.index(record.schedule)
    flags = f"{_bool(record.time_source is TimeSource.MODELLED)}, {_bool(record.own_only)}"
    return f"{{{{{sizes}}}, {schedule}, {record.seconds.hex()}, {modelled.hex()}, {flags}}}"


def _arguments(arguments: Sequence[Argument]) -> str:
    """``struct Arguments``, whose pointers are addresses of the driver."""
    members = "".join(f"  {'unsigned long long' if a.pointer else a.cuda_type} {a.name};\n" for a in arguments)
    return f"struct Arguments {{\n{members}}};"


def _names(name: str, count: int) -> str:
    return ", ".join(f"{name}_{number}" for number in range(count))


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _lines(rows: list[str]) -> str:
    return ",\n".join(f"    {row}" for row in rows)
