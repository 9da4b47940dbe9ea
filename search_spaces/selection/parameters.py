"""What calls that sample ask of the parameters of rows."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.model.dtype import DType
from autotune.codegen.selection.sampling.problem import Source
from autotune.search_spaces.contract.array_checks import check_array
from autotune.search_spaces.contract.layouts import Layout

_TYPES = {"temperature": DType.FLOAT32, "top_k": DType.INT32, "top_p": DType.FLOAT32, "min_p": DType.FLOAT32}


def check_parameters(logits: Layout, parameters: Mapping[str, Layout | None]) -> None:
    """``ValueError`` for parameters that are not one for each row."""
    for name, array in parameters.items():
        check_array(name, array, _TYPES[name], logits.shape[:-1])


def checked_source(source: str) -> Source:
    """``ValueError`` for numbers of another kind."""
    if source not in list(Source):
        raise ValueError(f"source={source!r}: expected {' or '.join(Source)}")
    return Source(source)
