"""How users call scan."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.problem import DTYPES, ScanProblem
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout

_BYTES = (DType.BOOL, DType.UINT8)


def scan(
    input: Any,
    dim: int | None = -1,
    *,
    dtype: DType | None = None,
    op: str = "sum",
    exclusive: bool = False,
    reverse: bool = False,
    flags: Any = None,
    offsets: Any = None,
    init: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The sum, product, maximum or minimum of all elements up to each one, along the last axis or over all elements.

    It computes torch.cumsum, cumprod (``op="product"``) and the values of cummax and cummin. Two launches on the same
    input give the same bits, of floating-point numbers, too.

    Args:
        input: float32, float16, bfloat16, float64, int32 or int64, of any number of axes. Elements along the last axis
            are contiguous, and rows are evenly spaced.
        dim: the axis, which must be the last one; None for all elements of a contiguous array in the order of memory.
        dtype: of the results: that of `input`, or int64 for sums and products of int32, which is also the default.
            It is NumPy's or PyTorch's. float16 and bfloat16 are computed in float32, and each result is rounded
            once. Integers wrap.
        op: ``sum``, ``product``, ``max`` or ``min``. A NaN makes what follows it NaN.
        exclusive: leave out the element at a result's own place. The first result is 0, 1, or of a maximum the lowest
            number and of a minimum the highest, unless there is an `init`.
        reverse: scan from the last element to the first.
        flags: bool or uint8 of the shape of `input`: where it is not 0, a segment begins, which is scanned by itself.
            It needs ``dim=None`` or an `input` of one axis.
        offsets: ascending int64, instead of `flags`: where each segment begins, first 0, and the number of elements.
        init: an array of one element of the results' dtype, which is combined with every result: an exclusive scan
            begins with it, and so does each segment.
        out: the results, of the shape of `input`. It may be `input` if it has its dtype. By default a new array of the
            library of `input`.

    Returns:
        The results.
    """


def _types(
    input: Layout,
    flags: Layout | None,
    offsets: Layout | None,
    init: Layout | None,
    dim: int | None,
    dtype: DType | None,
    op: str,
    exclusive: bool,
    reverse: bool,
) -> Mapping[str, ArrayType]:
    shape = input.shape
    check_dtype("scan", "input", input, DTYPES)
    if op not in list(Operation):
        raise ValueError(f"op={op!r}: expected one of {', '.join(Operation)}")
    if dim is not None and not shape:
        raise ValueError("input has shape (): expected rows along a last axis, or dim=None")
    if dim not in (None, -1, len(shape) - 1):
        raise ValueError(f"dim={dim}: scan takes the last axis, -1 or {len(shape) - 1}, or None for all elements")
    if (flags is not None or offsets is not None) and dim is not None and len(shape) > 1:
        raise ValueError(f"input has shape {shape}: expected one axis, or dim=None, for a scan of segments")
    if flags is not None and (flags.dtype not in _BYTES or flags.shape != shape):
        raise ValueError(
            f"flags has dtype {flags.dtype} and shape {flags.shape}: expected bool or uint8 of shape {shape}"
        )
    if offsets is not None and (offsets.dtype != DType.INT64 or len(offsets.shape) != 1 or offsets.shape[0] < 2):
        raise ValueError(
            f"offsets has dtype {offsets.dtype} and shape {offsets.shape}: expected int64 of one axis of 2 or more"
        )
    result = _result_dtype(DType(input.dtype), dtype, Operation(op))
    if init is not None and (init.dtype != result or prod(init.shape) != 1):
        raise ValueError(f"init has dtype {init.dtype} and shape {init.shape}: expected one element of {result}")
    return {"out": ArrayType(shape, result)}


def _result_dtype(given: DType, wanted: DType | None, op: Operation) -> DType:
    widens = given is DType.INT32 and op in (Operation.SUM, Operation.PRODUCT)
    usual = DType.INT64 if widens else given
    if wanted is not None and wanted not in (given, usual):
        allowed = " or ".join(dict.fromkeys((given, usual)))
        raise TypeError(f"dtype={wanted}: expected {allowed} for {op} of {given}")
    return wanted or usual


def _bind(
    input: Layout,
    flags: Layout | None,
    offsets: Layout | None,
    init: Layout | None,
    out: Layout,
    dim: int | None,
    dtype: DType | None,
    op: str,
    exclusive: bool,
    reverse: bool,
) -> Binding:
    rows, columns = (1, prod(input.shape)) if dim is None else (prod(input.shape[:-1]), input.shape[-1])
    problem = ScanProblem(
        rows=rows,
        columns=columns,
        op=Operation(op),
        dtype=DType(input.dtype),
        wide=out.dtype != input.dtype,
        exclusive=exclusive,
        reverse=reverse,
        flags=flags is not None,
        offsets=offsets is not None,
        segments=offsets.shape[0] - 1 if offsets is not None else 0,
        init=init is not None,
    )
    return Binding(problem, {"input": "x", "out": "y"})


CALL = Call(
    declaration=scan,
    inputs=("input", "flags", "offsets", "init"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    optional=("flags", "offsets", "init"),
    in_place=(("out", "input"),),
)
