"""How users call dropout."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.random_state import RANDOM_SCALARS
from autotune.codegen.streaming.dropout.problem import DTYPES, DropoutProblem, Mask
from autotune.search_spaces.contract.array_checks import check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, rows
from autotune.search_spaces.contract.random_state import random_pairs


def dropout(
    input: Any,
    p: float,
    seed: int,
    offset: int = 0,
    *,
    bias: Any = None,
    residual: Any = None,
    state: Any = None,
    packed: bool = False,
    mask: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """dropout(input + bias) + residual: zeros with probability p, and the other elements divided by 1 - p.

    Which elements are dropped follows from seed, offset, p and the place of an element in `input`, row by row, alone.
    So the gradient of `input` is ``dropout(gradient, p, seed, offset)``, and nothing has to be stored for it. The
    random numbers are those of Philox4x32-10; PyTorch's dropout, whose choice depends on its launch, makes others.

    Args:
        input: float32, bfloat16 or float16, of any number of axes. Elements along the last axis are contiguous, and
            rows are evenly spaced.
        p: the probability that an element becomes 0, from 0 (which keeps all, as in evaluation) to 1.
        seed: 0 … 2^64 - 1, the key of the random numbers.
        offset: 0 … 2^64 - 1. Calls with one seed and different offsets drop elements independently of each other.
        bias: one element for each place along the last axis, of the dtype of `input`, that is added before.
        residual: of the shape and the dtype of `input`, that is added after.
        state: uint64 or int64 of shape (2,), numbers in device memory that are added to `seed` and `offset`, which a
            captured graph reads anew.
        packed: whether `mask` has a bit for each element instead of a byte.
        mask: is written, if it is given: 1 for each element that was kept, and 0 for the others. uint8 of the shape of
            `input`; if `packed`, uint8 of one axis with eight elements in a byte, as NumPy's
            ``packbits(…, bitorder="little")`` makes it.
        out: the result, of the shape and the dtype of `input`. It may be `input`. By default a new array of the
            library of `input`.

    Returns:
        The result.
    """


def _types(
    input: Layout, bias: Layout | None, residual: Layout | None, state: Layout | None, packed: bool
) -> Mapping[str, ArrayType]:
    shape = input.shape
    check_rows("dropout", "input", input, DTYPES)
    for name, layout, expected in (("bias", bias, shape[-1:]), ("residual", residual, shape)):
        if layout is not None and (layout.shape, layout.dtype) != (expected, input.dtype):
            raise ValueError(
                f"{name} has shape {layout.shape} and dtype {layout.dtype}: expected {expected} and {input.dtype}"
            )
    random_pairs(state)
    mask = (ceil_div(prod(shape), 8),) if packed else shape
    return {"out": ArrayType(shape, input.dtype), "mask": ArrayType(mask, DType.UINT8)}


def _bind(
    input: Layout,
    bias: Layout | None,
    residual: Layout | None,
    state: Layout | None,
    mask: Layout | None,
    out: Layout,
    packed: bool,
) -> Binding:
    x, y = rows("input", input), rows("out", out)
    r = rows("residual", residual) if residual is not None else None
    stored = Mask.NONE if mask is None else Mask.BITS if packed else Mask.BYTES
    problem = DropoutProblem(
        rows=x.rows,
        columns=x.columns,
        dtype=DType(input.dtype),
        bias=bias is not None,
        residual=residual is not None,
        mask=stored,
        state=random_pairs(state) > 0,
        **x.fields("x"),
        **y.fields("y"),
        **(r.fields("r") if r else {}),
    )
    pointers = {"input": "x", "residual": "r", "out": "y"}
    return Binding(problem, pointers)


CALL = Call(
    declaration=dropout,
    inputs=("input", "bias", "residual", "state"),
    outputs=("out", "mask"),
    types=_types,
    bind=_bind,
    scalars=("p", *RANDOM_SCALARS),
    optional=("bias", "residual", "state", "mask"),
    in_place=(("out", "input"),),
)
