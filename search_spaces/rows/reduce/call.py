"""How users call reduce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import DTYPES, Axis, ReduceProblem
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import MAKE_CONTIGUOUS, Layout


def reduce(
    input: Any,
    op: str = "sum",
    dim: int | None = None,
    *,
    other: Any = None,
    offsets: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """A sum, a mean, a norm, an extreme or its index, over all elements, along an axis, or of each segment.

    Args:
        input: float32, float16, bfloat16 or int32, of any shape. Over all elements it is contiguous. Along an axis it
            is a row-major or column-major matrix with any leading dimension, or its like with more axes.
        op: ``sum`` (int64 for int32), ``mean``, ``l2`` (the square root of the sum of squares), ``max``, ``min``,
            ``argmax`` or ``argmin`` (int64: the first index); or, of two arrays, ``dot`` (the sum of their products) or
            ``dist`` (the square root of the sum of their squared differences). Sums of floats are accumulated in
            float32, and the result is rounded once; of int32 there is the sum alone. A NaN is the maximum and the
            minimum. Sums and norms of no elements are 0, the mean is NaN; a maximum is an error, but of a segment
            without elements it is the lowest number, a minimum the highest, and an index -1.
        dim: the axis, which results lack; None for all.
        other: for ``dot`` and ``dist``, an array of the shape, the strides and the dtype of `input`.
        offsets: ascending int32 or int64, one more than there are segments of `input`, which is contiguous, and ``dim``
            is None: where each segment begins, first 0, and the number of elements. There is a result for each segment.
        out: the results, contiguous; it may not overlap the inputs. By default a new array of the library of `input`.

    Returns:
        The results.
    """


class _Lines(NamedTuple):
    """Elements that one stride leads through: `length` of them, `step` elements apart."""

    length: int
    step: int


_ONE = _Lines(1, 0)
_OFFSETS = (DType.INT32, DType.INT64)


def _types(
    input: Layout, other: Layout | None, offsets: Layout | None, op: str, dim: int | None
) -> Mapping[str, ArrayType]:
    check_dtype("reduce", "input", input, DTYPES)
    operation = _operation(op)
    if (other is not None) != (operation.arrays == 2):
        raise TypeError(f"op={op!r} of {'one array' if other is None else 'two arrays'}: expected {operation.arrays}")
    if other is not None and (other.shape, other.dtype) != (input.shape, input.dtype):
        raise ValueError(
            f"other has shape {other.shape} and dtype {other.dtype}: expected those of input, {input.shape} and "
            f"{input.dtype}"
        )
    result = operation.result_dtype(DType(input.dtype))
    if offsets is not None:
        _check_offsets(offsets, dim)
        return {"out": ArrayType((offsets.shape[0] - 1,), result)}
    if dim is None:
        return {"out": ArrayType((), result)}
    axis = _axis(input, dim)
    return {"out": ArrayType((*input.shape[:axis], *input.shape[axis + 1 :]), result)}


def _check_offsets(offsets: Layout, dim: int | None) -> None:
    if offsets.dtype not in _OFFSETS or len(offsets.shape) != 1 or offsets.shape[0] < 2:
        raise ValueError(
            f"offsets has dtype {offsets.dtype} and shape {offsets.shape}: "
            "expected int32 or int64 of one axis of 2 or more"
        )
    if dim is not None:
        raise ValueError(f"dim={dim}: expected None for segments")


def _bind(input: Layout, other: Layout | None, offsets: Layout | None, op: str, dim: int | None) -> Binding:
    axis, rows, columns, leading = _matrix(input, dim)
    if offsets is not None and axis is not Axis.ALL:
        raise ValueError(f"input has strides {input.strides}: expected a contiguous array for segments")
    alignment = input.alignment
    if other is not None:
        if _matrix(other, dim) != (axis, rows, columns, leading):
            raise ValueError(
                f"other has strides {other.strides}: expected those of input, {input.strides}; "
                "call contiguous() of both first (NumPy, CuPy: ascontiguousarray)"
            )
        alignment = min(alignment, other.alignment)
    problem = ReduceProblem(
        rows=rows,
        columns=columns,
        op=_operation(op),
        axis=axis if offsets is None else Axis.SEGMENTS,
        dtype=DType(input.dtype),
        segments=0 if offsets is None else offsets.shape[0] - 1,
        offset_dtype=DType.INT64 if offsets is None else DType(offsets.dtype),
        ldx=leading,
        align_x=alignment,
    )
    return Binding(problem, {"input": "x", "out": "y"})


def _matrix(input: Layout, dim: int | None) -> tuple[Axis, int, int, int]:
    """The input as a row-major matrix: the axis to reduce, rows, columns, and the leading dimension (0: no gaps)."""
    kept = list(zip(input.shape, input.strides, strict=True))
    reduced = [kept.pop(_axis(input, dim))] if dim is not None else kept.copy()
    along, across = _joined(reduced), _joined(kept if dim is not None else [])
    if along is not None and across is not None:
        if len(reduced) == len(input.shape) and _nested(along, _ONE):
            return Axis.ALL, 1, along.length, 0
        by_columns = dim is not None and _axis(input, dim) == 0
        for axis in (Axis.FIRST, Axis.LAST) if by_columns else (Axis.LAST, Axis.FIRST):
            inner, outer = (across, along) if axis is Axis.FIRST else (along, across)
            if _nested(inner, outer):
                return axis, outer.length, inner.length, outer.step if outer.length > 1 and inner.length else 0
    raise ValueError(
        f"input has shape {input.shape} and strides {input.strides}: expected contiguous elements, or a matrix, to "
        f"reduce along dim={dim}; {MAKE_CONTIGUOUS}"
    )


def _nested(inner: _Lines, outer: _Lines) -> bool:
    """Whether the inner elements are rows of a row-major matrix."""
    if 0 in (inner.length, outer.length):
        return True
    return (inner.length == 1 or inner.step == 1) and (outer.length == 1 or outer.step >= inner.length)


def _joined(axes: list[tuple[int, int]]) -> _Lines | None:
    """Some axes as one; None if no stride leads through them."""
    count, step = 1, 0
    for size, stride in reversed(axes):
        if size == 0:
            return _Lines(0, 0)
        if size == 1:
            continue
        if count > 1 and stride != count * step:
            return None
        step = step if count > 1 else stride
        count *= size
    return _Lines(count, step)


def _operation(op: str) -> Operation:
    if op not in list(Operation):
        raise ValueError(f"op={op!r}: expected one of {', '.join(Operation)}")
    return Operation(op)


def _axis(input: Layout, dim: int) -> int:
    """The axis counted from the first one."""
    axes = len(input.shape)
    if not -axes <= dim < axes:
        raise ValueError(f"dim={dim}: expected None or {-axes} … {axes - 1} for input of shape {input.shape}")
    return dim % axes


CALL = Call(
    declaration=reduce,
    inputs=("input", "other", "offsets"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    optional=("other", "offsets"),
    reordered=("input", "other"),
)
