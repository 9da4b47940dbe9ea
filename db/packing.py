"""Lists of similar JSON objects, written as what most of them have in common and what each has of its own.

    {"common": {"status": "ok", "schedule": {"stages": 2, "block_m": 64}},
     "each": [{"samples": [1e-3], "schedule": {"block_m": 128}}, {"samples": [2e-3]}]}

A packed list states its common values itself, so it keeps its meaning: no default of any class is involved. Objects are
joined member by member. A member has no common value where some rows lack it, or only some have an object there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import Any

Row = Mapping[str, Any]


def packed(rows: Sequence[Row]) -> dict[str, Any]:
    """The packed list of these rows, which `unpacked` gives back."""
    common, each = _split(rows)
    return {"common": common, "each": each}


def unpacked(values: Any) -> Any:
    """The rows of a packed list; any other value is returned as it is.

    Raises:
        ValueError: one line, for a packed list whose parts are no objects, or are nested too deeply.
    """
    if not isinstance(values, Mapping) or set(values) != {"common", "each"}:
        return values
    common, each = values["common"], values["each"]
    if not (isinstance(common, Mapping) and isinstance(each, list) and all(isinstance(row, Mapping) for row in each)):
        raise ValueError(f"{short(dict(values))}: expected an object as common and a list of objects as each")
    try:
        return [_joined(common, row) for row in each]
    except RecursionError:
        raise ValueError("a packed list is nested too deeply") from None


def _split(rows: Sequence[Row]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the rows have in common, and what each has of its own."""
    common: dict[str, Any] = {}
    each: list[dict[str, Any]] = [{} for _ in rows]
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row[name] for row in rows if name in row]
        objects = sum(isinstance(value, Mapping) for value in values)
        if len(values) == len(rows) == objects:
            common[name], own = _split(values)
            for row, part in zip(each, own, strict=True):
                row.update({name: part} if part else {})
            continue
        texts = [json.dumps(value) for value in values]  # by which true, 1 and 1.0 differ
        ((most, _),) = Counter(texts).most_common(1)
        if len(values) == len(rows) and not objects:
            common[name] = json.loads(most)
        else:
            most = ""
        for row, source in zip(each, rows, strict=True):
            if name in source and json.dumps(source[name]) != most:
                row[name] = source[name]
    return common, each


def _joined(common: Row, own: Row) -> dict[str, Any]:
    """An object of the common values, as far as it has none of its own."""
    joined = {**common, **own}
    for name, value in common.items():
        if isinstance(value, Mapping):
            of_row = own.get(name, {})
            joined[name] = _joined(value, of_row) if isinstance(of_row, Mapping) else of_row
    return joined
