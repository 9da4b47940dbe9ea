"""``tables.hpp``: all that is computed for some sizes, as data that choose.hpp reads."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import accumulate, chain
from typing import Any

from .kernels import Kernels
from .tree import Tree


def tables(exported: Kernels) -> str:
    """The content of ``tables.hpp``."""
    bundle, schedules = exported.bundle, exported.bundle.all_schedules
    entries = dict.fromkeys(entry for source in exported.sources.values() for entry in source.entries)
    names = {f"kernels_{digest[:16]}": number for number, digest in enumerate(exported.sources)}
    names |= {f"entry_{entry}": number for number, entry in enumerate(entries)}
    names |= {f"brought_{name}": number for number, name in enumerate(exported.brought)}
    constant = exported.terms.constant
    words = [constant(names[one]) if one in names else one for one in chain.from_iterable(exported.plans)]
    plans = dict(zip(exported.plans, accumulate(map(len, exported.plans), initial=0), strict=False))
    nodes: dict[tuple[int, int, int], int] = {}
    launched = {exported.launched[one]: exported.launched[one].written(nodes, plans.__getitem__) for one in schedules}
    root = exported.rule.schedule.written(nodes, schedules.index)

    def written(operation: str, left: Any, right: Any) -> str:
        if operation == "constant":
            constants.append(f"Whole{{{left}}}" if right is int else repr(left))
            return f"{{constant, {len(constants) - 1}, 0}}"
        if isinstance(left, Tree):
            left = launched[left] if left in launched else left.written(nodes, int)
        return f"{{{operation}, {left}, {right}}}"

    constants = list[str]()
    terms = [written(*row) for row in exported.terms.rows]
    described = "\n".join(f"//   {number}: {schedule}" for number, schedule in enumerate(schedules))
    return f"""#pragma once
// {bundle.operator.name} for {bundle.spec.name} ({bundle.spec.arch}), by autotune. Schedules:
{described}

namespace autotune {{

using Sizes = std::array<long long, {len(bundle.most)}>;  // {", ".join(bundle.most)}
constexpr Sizes most{{{_joined(bundle.most.values())}}};
{_array("const char*", "entries", (f'"{entry}"' for entry in entries))}
{_array("const char*", "programs", (f'"{file_name(digest)}"' for digest in exported.sources))}
{_array("Number", "constants", constants)}
{_array("Term", "terms", terms)}
{_array("Node", "nodes", (f"{{{_joined(node)}}}" for node in nodes))}
{_array("int", "words", words)}
{_array("int", "launched", launched.values())}
constexpr int serving = {root};

}}  // namespace autotune
"""


def file_name(digest: str) -> str:
    """The file of a source with this digest."""
    return f"{digest[:16]}.cubin"


def _array(kind: str, name: str, elements: Iterable[object]) -> str:
    found = [str(one) for one in elements]
    lines = "\n".join(textwrap.wrap(_joined(found), 110))
    return f"constexpr std::array<{kind}, {len(found)}> {name}{{{{\n{lines}\n}}}};"


def _joined(words: Iterable[object]) -> str:
    return ", ".join(map(str, words))
