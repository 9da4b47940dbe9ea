"""Results of ``autotune profile``: the hardware's counters of a kernel."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from reprlib import repr as short
from typing import Any

from autotune.base.files import read_regular
from autotune.devices.profiler import COUNTERS

from .members import member, text

_MOST_BYTES = 1 << 20  # of a result


def read_profile(path: Path) -> dict[str, Any]:
    """A file that ``autotune profile -o`` wrote, as JSON values.

    Returns:
        ``title``, ``kernels`` (names, in the order of their launches) and ``rows``: a counter's text, then its value
        for each of them, null where there is none.

    Raises:
        OSError: the file cannot be read.
        ValueError: one line that says what is wrong with it.
    """
    try:
        document = json.loads(read_regular(path, _MOST_BYTES))
        of = " ".join([text(document, "operator"), text(document, "problem"), "on", text(document, "device")])
        launches = member(document, "launches", list)
        values = [member(launch, "counters", dict) for launch in launches]
        rows = [[label, *(_number(one, name) for one in values)] for name, label in COUNTERS.items()]
        title = f"{of}, {text(document, 'taken_at')[:10]}"
        return {"title": title, "kernels": [text(launch, "kernel") for launch in launches], "rows": rows}
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a result of autotune profile: {error}") from None


def _number(counters: dict[str, Any], name: str) -> float | None:
    value = counters.get(name)
    if value is not None and not (type(value) in (int, float) and isfinite(value)):
        raise ValueError(f"{name} is {short(value)}: expected a number")
    return value
