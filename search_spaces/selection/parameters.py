"""Rows and their parameters in calls that sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.selection.sampling.problem import Source
from autotune.search_spaces.contract.array_checks import check_array
from autotune.search_spaces.contract.layouts import Layout, rows

_TYPES = {"temperature": DType.FLOAT32, "top_k": DType.INT32, "top_p": DType.FLOAT32, "min_p": DType.FLOAT32}


def check_parameters(logits: Layout, parameters: Mapping[str, Layout | None]) -> None:
    """``ValueError`` for parameters that are not one for each row."""
    for name, array in parameters.items():
        check_array(name, array, _TYPES[name], logits.shape[:-1])


def row_fields(logits: Layout, source: str, parameters: Mapping[str, Layout | None]) -> dict[str, Any]:
    """The fields of a problem that say where rows are, of what kind, and which of their parameters there are.

    Raises:
        ValueError: numbers of another kind than there may be, or rows that do not lie evenly.
    """
    x = rows("logits", logits)
    if source not in list(Source):
        raise ValueError(f"source={source!r}: expected {' or '.join(Source)}")
    return {
        "rows": x.rows,
        "columns": x.columns,
        "dtype": DType(logits.dtype),
        "temperatures": parameters["temperature"] is not None,
        **{name: parameters[name] is not None for name in ("top_k", "top_p", "min_p")},
        "source": Source(source),
        **x.fields("x"),
    }
