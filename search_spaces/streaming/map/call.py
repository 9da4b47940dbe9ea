"""How users call map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.model.dtype import DType
from autotune.codegen.streaming.map.arrays import DTYPES, NARROW
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, Shape, rows

_GATES = {"separate": Gate.SEPARATE, "halves": Gate.HALVES, "interleaved": Gate.INTERLEAVED}


def map(
    input: Any,
    function: str = "identity",
    *,
    factors: Any = None,
    packed: str | None = None,
    bias: Any = None,
    residual: Any = None,
    scale: Any = None,
    grad: Any = None,
    dtype: DType | None = None,
    saturate: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """(f(input + bias)·factors + residual)·scale for each element, computed in FP32 and rounded once.

    With `grad`, it is the gradient of `input` instead.

    Args:
        input: float32, bfloat16 or float16 of any shape; for a cast, also float8_e4m3fn, float8_e5m2 or int8. Elements
            along the last axis are contiguous, and rows are evenly spaced.
        function: f: ``gelu``, ``gelu_tanh``, ``quick_gelu``, ``silu``, ``relu``, ``relu2``, ``sigmoid``, ``tanh``,
            ``exp`` or ``identity``.
        factors: of gated pairs, of the shape and the dtype of `input`.
        packed: where the rows of `input` hold gates and factors: ``halves`` for the factors behind the gates,
            ``interleaved`` for each one behind its gate. Results have half of the columns.
        bias: a contiguous vector of the results' columns and of the dtype of `input`.
        residual: of the results' shape and the dtype of `input`.
        scale: float32 of one element.
        grad: of the results' shape and dtype: the gradient of the results. Neither `residual` nor `scale` goes with it.
        dtype: of the results, by default that of `input`; with a cast or a function also float8_e4m3fn and
            float8_e5m2, with a cast also int8.
        saturate: whether results are the nearest number of their type. Without it, they are as PyTorch's ``to`` gives
            them: NaN or infinity beyond the largest number, whole numbers cut off towards 0.
        out: the results, of `dtype` and the shape of `input`, or half of its columns. It may be `input` if it has its
            dtype and its layout. By default a new array of the library of `input`. With `grad`, it is of the shape and
            the dtype of `input`, and with `factors` also, it has a new first axis: the gradients of `input` and of
            `factors`.

    Returns:
        The results, or the gradients.
    """


def _types(
    input: Layout,
    factors: Layout | None,
    bias: Layout | None,
    residual: Layout | None,
    scale: Layout | None,
    grad: Layout | None,
    function: str,
    packed: str | None,
    dtype: DType | None,
    saturate: bool,
) -> Mapping[str, ArrayType]:
    if function not in list(Activation):
        raise ValueError(f"function={function!r}: expected one of {', '.join(Activation)}")
    check_dtype("map", "input", input, (*DTYPES, *NARROW))
    if not input.shape:
        raise ValueError("input has shape (): expected one axis or more")
    result = input.dtype if dtype is None else dtype
    if result not in (*DTYPES, *NARROW):
        raise TypeError(f"dtype={result}: expected one of {', '.join((*DTYPES, *NARROW))}")
    shape = _shape(input, factors, packed)
    check_array("factors", factors, input.dtype, input.shape)
    check_array("bias", bias, input.dtype, shape[-1:])
    check_array("residual", residual, input.dtype, shape)
    check_array("grad", grad, result, shape)
    if scale is not None and (scale.dtype, _count(scale.shape)) != (DType.FLOAT32, 1):
        raise ValueError(f"scale has dtype {scale.dtype} and shape {scale.shape}: expected float32 of one element")
    if grad is None:
        return {"out": ArrayType(shape, result)}
    both = (2, *input.shape) if factors is not None else input.shape
    return {"out": ArrayType(both, input.dtype)}


def _shape(input: Layout, factors: Layout | None, packed: str | None) -> Shape:
    """The shape of the results."""
    if packed is None:
        return input.shape
    if packed not in ("halves", "interleaved"):
        raise ValueError(f"packed={packed!r}: expected halves or interleaved")
    if factors is not None:
        raise ValueError(f"packed={packed!r} and factors: expected one of them")
    if input.shape[-1] % 2:
        raise ValueError(f"input has shape {input.shape}: expected an even number of columns for packed={packed!r}")
    return (*input.shape[:-1], input.shape[-1] // 2)


def _count(shape: Shape) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _bind(
    input: Layout,
    factors: Layout | None,
    bias: Layout | None,
    residual: Layout | None,
    scale: Layout | None,
    grad: Layout | None,
    out: Layout,
    function: str,
    packed: str | None,
    dtype: DType | None,
    saturate: bool,
) -> Binding:
    gate = Gate.SEPARATE if factors is not None else Gate.NONE if packed is None else _GATES[packed]
    operands = {"x": ("input", input), "u": ("factors", factors), "r": ("residual", residual)}
    operands |= {"g": ("grad", grad), "y": ("out", out)}
    layouts: dict[str, Any] = {}
    for operand, (name, layout) in operands.items():
        if layout is not None:
            seen = rows(name, layout)
            layouts |= {f"ld{operand}": seen.leading, f"align_{operand}": max(layout.itemsize, seen.alignment)}
    problem = MapProblem(
        rows=_count(input.shape[:-1]),
        columns=input.shape[-1] // (2 if packed else 1),
        function=Activation(function),
        dtype=DType(input.dtype),
        out_dtype=OutDType.SAME if dtype is None else OutDType(dtype),
        saturate=saturate,
        gate=gate,
        bias=bias is not None,
        residual=residual is not None,
        scaled=scale is not None,
        backward=grad is not None,
        **layouts,
    )
    names = {name: operand for operand, (name, _) in operands.items()}
    return Binding(problem, names)


CALL = Call(
    declaration=map,
    inputs=("input", "factors", "bias", "residual", "scale", "grad"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    optional=("factors", "bias", "residual", "scale", "grad"),
    in_place=(("out", "input"),),
)
