"""The caller's arrays as operands of attention and their gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.array_checks import check_alike
from autotune.search_spaces.contract.call import ArrayType, Binding
from autotune.search_spaces.contract.layouts import Layout

from .fragment_tables import check_read, table_fields
from .heads import PACKED, check_heads, head_fields, operand_fields

_ARRAYS = {  # of a call, by operand
    "q": "q",
    "k": "k",
    "v": "v",
    "o": "output",
    "dout": "grad_output",
    "dq": "grad_q",
    "dk": "grad_k",
    "dv": "grad_v",
}


def gradient_types(
    grad_output: Layout,
    q: Layout,
    k: Layout,
    v: Layout,
    output: Layout,
    lse: Layout,
    sinks: Layout | None,
    order: str,
    **_: Layout | None,
) -> Mapping[str, ArrayType]:
    """The gradients of operands that go together, for results of attention that go with them.

    Raises:
        TypeError: of dtypes of operands.
        ValueError: of anything else.
    """
    of_o = check_heads(q, k, v, sinks, order)
    shape = tuple(of_o[axis] for axis in order)
    if (output.shape, output.dtype) != (shape, q.dtype):
        raise ValueError(f"output has shape {output.shape} and dtype {output.dtype}: expected {shape} and {q.dtype}")
    check_alike("grad_output", grad_output, "output", output)
    rows = tuple(of_o[axis] for axis in ("hs" if order == PACKED else "bhs"))
    if (lse.shape, lse.dtype) != (rows, DType.FLOAT32):
        raise ValueError(f"lse has shape {lse.shape} and dtype {lse.dtype}: expected {rows} and {DType.FLOAT32}")
    of_sinks = (0,) if sinks is None else sinks.shape
    return {
        "grad_q": ArrayType(q.shape, q.dtype),
        "grad_k": ArrayType(k.shape, k.dtype),
        "grad_v": ArrayType(v.shape, v.dtype),
        "grad_sinks": ArrayType(of_sinks, DType.FLOAT32),
    }


def gradient_binding(
    problem_type: type[AttentionBackwardProblem], arrays: Mapping[str, Layout | None], order: str, **fields: Any
) -> Binding:
    """What a call of these arrays and further fields of the problem computes."""
    named = {operand: (name, layout) for operand, name in _ARRAYS.items() if (layout := arrays[name])}
    q, k, v = (named[name][1] for name in "qkv")
    problem = problem_type(
        sinks=arrays["sinks"] is not None,
        **fields,
        **head_fields(q, k, v, order),
        **operand_fields(problem_type.operands, named, order),
        **table_fields(arrays),
    )
    check_read(problem, arrays)
    pointers = {name: operand for operand, name in _ARRAYS.items() if name != operand}
    return Binding(problem, {**pointers, "grad_sinks": "dsinks"})
