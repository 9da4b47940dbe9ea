"""The T1 format of the auto-tuning community, as far as it describes a search space: parameters and conditions.

It is what the JSON schema of github.com/odgaard/TuningSchema says. Nothing in a file is run.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from autotune.base.files import read_regular

_MOST_BYTES = 1 << 20


def t1_space(path: str | Path) -> dict[str, Any]:
    """The arguments `parameters` and `constraints` of `kernel`, of a T1 file.

    Raises:
        OSError: it cannot be read.
        ValueError: one line that says what is wrong with it.
    """
    try:
        stated = json.loads(read_regular(Path(path), _MOST_BYTES))["ConfigurationSpace"]
        parameters = {one["Name"]: _values(one["Values"]) for one in stated["TuningParameters"]}
        constraints = [one["Expression"] for one in stated.get("Conditions", ())]
    except (KeyError, TypeError, AttributeError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path} is no search space of T1: {type(error).__name__}: {error}") from None
    return {"parameters": parameters, "constraints": constraints}


def _values(text: str) -> list[Any]:
    """The values of a parameter, which are a list of Python in a string."""
    values = ast.literal_eval(text)
    if not isinstance(values, list):
        raise TypeError(f"Values {text}: expected a list")
    return values
