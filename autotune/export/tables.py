"""``tables.hpp``: all that is computed for some sizes, as data that choose.hpp reads."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from .kernels import Kernels


def tables(exported: Kernels) -> str:
    """The content of ``tables.hpp``."""
    bundle, terms, plans = exported.bundle, exported.terms, exported.plans
    kernels = dict.fromkeys(f"{part} {entry}" for part, one in exported.sources.items() for entry in one.entries)
    serving, launched = exported.rule.schedule, exported.launched.values()
    numbers = {name: number for names in (kernels, exported.brought) for number, name in enumerate(names)}
    words = [
        [terms.constant(numbers.get(word, word)) if isinstance(word, str) else word for word in plan] for plan in plans
    ]
    constants = list[Any]()

    def written(operation: str, *operands: Any) -> str:
        if operation == "constant":
            constants.append(operands[0])
            operands = (len(constants) - 1,)
        if operation == "size":
            operands = (list(bundle.most).index(operands[0]),)
        return f"{{{_joined([operation, *operands])}}}"

    rows = [written(*row) for row in terms.rows]
    described = "\n".join(f"//   {number}: {schedule}" for number, schedule in enumerate(bundle.all_schedules))
    return f"""#pragma once
// {bundle.operator.name} for {bundle.spec.name} ({bundle.spec.arch}), by autotune. Schedules:
{described}

namespace autotune {{

using Sizes = std::array<long long, {len(bundle.most)}>;  // {", ".join(bundle.most)}
constexpr Sizes least{{{_joined(bundle.least.values())}}};
constexpr Sizes most{{{_joined(bundle.most.values())}}};
{_array("Kernel", "kernels", (f'{{"{file_name(part)}", "{entry}"}}' for part, entry in map(str.split, kernels)))}
{_array("double", "constants", constants)}
{_array("Term", "terms", rows)}
{_array("int", "words", (word for plan in words for word in plan))}
{_array("int", "plans", accumulate(map(len, words), initial=0))}
{_array("int", "launched", launched)}
constexpr int serving = {serving};

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
