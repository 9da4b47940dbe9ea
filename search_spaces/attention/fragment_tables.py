"""The caller's tables that fragments read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.fragmented import FragmentedProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.array_checks import check_array
from autotune.search_spaces.contract.layouts import Layout

TABLES = {"numbers": DType.FLOAT32, "integers": DType.INT32}  # by the name of the array


def table_fields(given: Mapping[str, Layout | None]) -> dict[str, Any]:
    """The fields of a problem that say how many entries tables have.

    Raises:
        ValueError: a table has another dtype, or more axes than one.
    """
    arrays = {name: given[name] for name in TABLES}
    for name, dtype in TABLES.items():
        check_array(name, arrays[name], dtype, array.shape[:1] if (array := arrays[name]) else ())
    return {f"{name}_count": array.shape[0] for name, array in arrays.items() if array}


def check_read(problem: FragmentedProblem, given: Mapping[str, Layout | None]) -> None:
    """``ValueError`` for a table that no fragment of the problem reads."""
    read = {one.name for one in problem.tables}
    for name in TABLES:
        if (array := given[name]) and name not in read:
            raise ValueError(f"{name} has shape {array.shape}: expected None, for neither score nor mask reads it")
