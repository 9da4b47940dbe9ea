"""How users call softmax."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.problem import DTYPES
from autotune.codegen.rows.softmax.mask import Mask
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.search_spaces.contract.array_checks import check_array, check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, rows


def softmax(
    input: Any,
    dim: int = -1,
    *,
    temperature: float = 1.0,
    mask: Any = None,
    lengths: Any = None,
    causal: bool = False,
    causal_offset: int = 0,
    zero_rows: bool = False,
    log: bool = False,
    batch_invariant: bool = False,
    lse: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """y = softmax(input / temperature) along the last axis, or its logarithm, accumulated in FP32.

    NaN or infinity makes its row NaN, as does a row of nothing but -infinity.

    Args:
        input: float32, bfloat16 or float16, of any number of axes. Elements along the last axis are contiguous, and
            rows are evenly spaced.
        dim: the axis, which must be the last one.
        temperature: what `input` is divided by, more than 0.
        mask: bool, whether an element is kept or counts as -infinity; or of the dtype of `input`, what is added to
            input / temperature; the sum is rounded to that dtype. Its shape is (queries, keys), the last two axes of
            `input`, or that of `input` with extents of 1 from some axis ahead of these on: (batch, 1, queries, keys).
            Rows are contiguous and evenly spaced.
        lengths: int32 of the shape of `input` without its last axis: from this column on, a row counts as -infinity.
        causal: whether row r of each matrix along the last two axes counts as -infinity behind column
            r + `causal_offset`. What counts as -infinity is not read, so NaN does not matter there.
        causal_offset: 0 begins at the first column; columns - rows ends at the last one, as with keys of earlier
            tokens ahead of those of the rows.
        zero_rows: whether the softmax of a row of nothing but -infinity is 0 (its logarithm -infinity), and not NaN.
        log: whether y is the logarithm of the softmax.
        batch_invariant: choose the kernel by the columns alone: the bits of a row's result do not depend on how many
            rows there are, nor on where it is among them, in arrays that are aligned alike.
        lse: is written, if it is given: the logarithm of the sum of exponentials of each row, float32 of the shape of
            `input` without its last axis. It is -infinity for a row of nothing else.
        out: y, of the shape and the dtype of `input`. It may be `input`. By default a new array of the library of
            `input`.

    Returns:
        y.
    """


def log_softmax(
    input: Any,
    dim: int = -1,
    *,
    temperature: float = 1.0,
    out: Any = None,
    stream: Any = None,
) -> Mapping[str, Any]:
    """``torch.log_softmax``, by ``softmax``.

    Args:
        input, dim, temperature, out: see ``softmax``, which takes masks, too.
    """
    return {"input": input, "dim": dim, "temperature": temperature, "log": True, "out": out, "stream": stream}


def _types(
    input: Layout, mask: Layout | None, lengths: Layout | None, dim: int, **options: bool
) -> Mapping[str, ArrayType]:
    shape = input.shape
    check_rows("softmax", "input", input, DTYPES, dim)
    check_array("lengths", lengths, DType.INT32, shape[:-1])
    if (options["causal"] or mask is not None) and len(shape) < 2:
        raise ValueError(f"input has shape {shape}: expected matrices along two last axes, for causal or a mask")
    if mask is not None and mask.dtype not in (DType.BOOL, input.dtype):
        raise TypeError(f"mask has dtype {mask.dtype}: expected bool or {input.dtype}, that of input")
    if mask is not None:
        _sharing(input, mask)
    return {"out": ArrayType(shape, input.dtype), "lse": ArrayType(shape[:-1], DType.FLOAT32)}


def _sharing(input: Layout, mask: Layout) -> int:
    """How many matrices of the input, one behind the other, share one of the mask."""
    batch, matrix = input.shape[:-2], input.shape[-2:]
    if mask.shape == matrix:
        return prod(batch)
    for own in range(len(batch) + 1):
        if mask.shape == (*batch[:own], *(1 for _ in batch[own:]), *matrix):
            return prod(batch[own:])
    raise ValueError(
        f"mask has shape {mask.shape}, and input {input.shape}: expected {matrix}, or the shape of input with extents "
        "of 1 ahead of the last two axes"
    )


def _bind(
    input: Layout, mask: Layout | None, lengths: Layout | None, lse: Layout | None, out: Layout, dim: int, **given: Any
) -> Binding:
    if mask is not None:
        m, kind = rows("mask", mask), Mask.KEEP if mask.dtype == DType.BOOL else Mask.ADD
        given |= {"mask": kind, "heads": _sharing(input, mask), **m.fields("m")}
    problem = SoftmaxProblem(
        rows=prod(input.shape[:-1]),
        columns=input.shape[-1],
        dtype=DType(input.dtype),
        lengths=lengths is not None,
        lse=lse is not None,
        queries=input.shape[-2] if given["causal"] or mask is not None else 0,
        **given,
    )
    return Binding(problem, {"input": "x", "out": "y"})


CALL = Call(
    declaration=softmax,
    inputs=("input", "mask", "lengths"),
    outputs=("out", "lse"),
    types=_types,
    bind=_bind,
    scalars=("temperature", "causal_offset"),
    optional=("mask", "lengths", "lse"),
    in_place=(("out", "input"),),
)
