"""``tables.hpp``: all that is computed for some sizes, as data that choose.hpp reads."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import accumulate, chain
from typing import Any

from autotune.dispatcher.choice.choose import RECORD_TIE
from autotune.dispatcher.choice.modelled import TIE

from .kernels import Kernels
from .plan import brought_name, program_name


def tables(exported: Kernels) -> str:
    """The content of ``tables.hpp``."""
    bundle, sources, schedules = exported.bundle, list(exported.sources), exported.bundle.all_schedules
    entries = dict.fromkeys(entry for source in exported.sources.values() for entry in source.entries)
    nodes: dict[tuple[int, int, int], int] = {}
    begins = dict(zip(exported.plans, accumulate(map(len, exported.plans), initial=0), strict=False))
    rule = exported.rule
    roots = [
        (exported.launched[one].written(nodes, begins.__getitem__), rule.seconds[one].written(nodes, int))
        for one in schedules
    ]
    distances = [(schedules.index(one.schedule), formula.written(nodes, int)) for one, formula in rule.distances]
    sizes, constants, terms = list(bundle.most), list[str](), list[tuple[object, ...]]()
    for operation, left, right in exported.terms.rows:
        if operation == "constant":
            terms.append(("given", len(sizes) + len(constants), 0))
            constants.append(f"Whole{{{left}}}" if right is int else repr(left))
        else:
            terms.append(("given" if operation == "size" else operation, left, right))
    described = "\n".join(f"//   {number}: {schedule}" for number, schedule in enumerate(schedules))
    examples = [(f"{{{_joined(sizes)}}}", schedules.index(schedule)) for sizes, schedule in exported.examples.items()]
    return f"""#pragma once
#include <array>

#include "plan.hpp"
// {bundle.operator.name} for {bundle.spec.name} ({bundle.spec.arch}), by autotune. Schedules:
{described}

namespace autotune {{

// {_joined(bundle.most)}
constexpr int size_count = {len(bundle.most)};
using Sizes = std::array<long long, size_count>;
struct Example {{
  Sizes sizes;
  int schedule;
}};
{_array("long long", "most", bundle.most.values())}
enum Brought {{ {_joined(map(brought_name, exported.brought))} }};
enum Entry {{ {_joined(f"entry_{entry}" for entry in entries)} }};
{_array("const char*", "entries", (f'"{entry}"' for entry in entries))}
enum Program {{ {_joined(map(program_name, sources))} }};
{_array("const char*", "programs", (f'"{file_name(digest)}"' for digest in sources))}
{_array("Number", "constants", constants)}
{_array("Term", "terms", terms)}
{_array("Node", "nodes", nodes)}
{_array("int", "words", chain.from_iterable(exported.plans))}
{_array("Schedule", "schedules", roots)}
{_array("Record", "records", distances)}
{_array("Example", "examples", examples)}
constexpr int general = {len(bundle.schedules)};  // schedules that may serve any size; the others serve their own
constexpr bool counted = {str(bundle.operator.counted).lower()};
constexpr double tie = {TIE!r}, record_tie = {RECORD_TIE!r};

}}  // namespace autotune
"""


def file_name(digest: str) -> str:
    """The file of a source with this digest."""
    return f"{digest[:16]}.cubin"


def _array(kind: str, name: str, rows: Iterable[Any]) -> str:
    """A constant array; a row is a text, a number, or a tuple of those."""
    texts = [f"{{{_joined(row)}}}" if isinstance(row, tuple) else str(row) for row in rows]
    lines = "\n".join(textwrap.wrap(_joined(texts), 110))
    return f"constexpr std::array<{kind}, {len(texts)}> {name}{{{{\n{lines}\n}}}};"


def _joined(words: Iterable[object]) -> str:
    return ", ".join(str(word).lower() if isinstance(word, bool) else str(word) for word in words)
