"""``tables.hpp``: which schedule serves some sizes, and what it launches."""

from __future__ import annotations

from collections.abc import Iterable

from autotune.codegen.model.lists import member

from .kernels import Kernels
from .plan import Plan, program_name
from .tree import Leaf, as_cpp


def tables(exported: Kernels) -> str:
    """The content of ``tables.hpp``."""
    bundle, names, sources = exported.bundle, list(exported.bundle.most), list(exported.sources)
    schedules, count = bundle.all_schedules, len(bundle.all_schedules)
    entries = dict.fromkeys(entry for source in exported.sources.values() for entry in source.entries)
    own = [
        f"{{{{{_joined(bundle.sizes(problem).values())}}}, {schedules.index(schedule)}}}"
        for problem, schedule in exported.own.items()
    ]
    inside = " && ".join(f"sizes.{name} >= 1 && sizes.{name} <= {most}LL" for name, most in bundle.most.items())
    same = " && ".join(f"one.sizes[{number}] == {stated}" for number, stated in enumerate(exported.stated))
    look_up = f"for (const Own& one : own)\n    if ({same} && plan_of[one.schedule](sizes, plan)) return one.schedule;"
    looked_up = as_cpp(Leaf(look_up), exported.terms, lambda text: [text])
    table = as_cpp(exported.table, exported.terms, _first)
    unpacked = f"  const auto [{_joined(names)}] = sizes;\n"
    plans = "".join(_plan(exported, number, unpacked) for number in range(count))
    return f"""#pragma once
#include <numeric>

#include "plan.hpp"
// {bundle.operator.name} for {bundle.spec.name} ({bundle.spec.arch}), by autotune.

namespace autotune {{

using std::gcd;

struct Sizes {{
  long long {_joined(names)};
}};

enum Tensor {{ {_joined(f"tensor_{member(name)}" for name in exported.addresses)} }};
enum Scalars {{ {_joined(f"scalar_{member(one.name)}" for one in exported.scalars)} }};
enum Entry {{ {_joined(f"entry_{entry}" for entry in entries)} }};
constexpr const char* entries[] = {{{_joined(f'"{entry}"' for entry in entries)}}};
constexpr int entry_count = {len(entries)};
enum Program {{
{_lines(map(program_name, sources))}
}};
constexpr const char* programs[] = {{
{_lines(f'"{file_name(digest)}"' for digest in sources)}
}};
constexpr int program_count = {len(sources)};

inline bool served(const Sizes& sizes) {{
  return {inside};
}}

{plans}// What each schedule launches; false where it does not serve.
constexpr bool (*plan_of[])(const Sizes&, Plan&) = {{{_joined(f"plan_{number}" for number in range(count))}}};

// What Python chose for the exported problems.
struct Own {{
  long long sizes[{len(names)}];
  int schedule;
}};
constexpr Own own[] = {{
{_lines(own)}
}};

// The schedule that serves and fills the plan; -1 if none does. Python chose for {exported.drawn} sizes.
inline int choose(const Sizes& sizes, Plan& plan) {{
  if (!served(sizes)) return -1;
{unpacked}{looked_up}{table}  for (int other = {len(bundle.schedules) - 1}; other >= 0; --other)
    if (plan_of[other](sizes, plan)) return other;
  return -1;
}}

}}  // namespace autotune
"""


def file_name(digest: str) -> str:
    """The file of a source with this digest."""
    return f"{digest[:16]}.cubin"


def _first(numbers: Iterable[int]) -> list[str]:
    return [f"for (int one : {{{_joined(numbers)}}}) if (plan_of[one](sizes, plan)) return one;"]


def _plan(exported: Kernels, number: int, unpacked: str) -> str:
    def statements(plan: Plan | None) -> Plan:
        return (*(plan or ()), "return true;")

    schedule = exported.bundle.all_schedules[number]
    tree = exported.trees[schedule]
    body = as_cpp(tree, exported.terms, statements) if tree else ""
    named = "sizes" if body else ""
    planned = "plan" if body else ""
    return f"""// {schedule}
inline bool plan_{number}(const Sizes& {named}, Plan& {planned}) {{
{unpacked if body else ""}{body}  return false;
}}

"""


def _joined(words: Iterable[object]) -> str:
    return ", ".join(map(str, words))


def _lines(rows: Iterable[str]) -> str:
    return ",\n".join(f"    {row}" for row in rows)
