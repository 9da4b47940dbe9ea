"""The calls: from a user's arrays to a problem, an output and a launch."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from ..codegen.sgemm.problem import SgemmProblem
from ..codegen.transpose.problem import ELEMENT_BYTES, TransposeProblem
from ..search_spaces.registry import operator
from . import arrays, plan
from .arrays import LAYOUTS_KEPT, Layout, Shape, View
from .matrices import Matrices, joint_batch, matrices


def sgemm(a: Any, b: Any, *, out: Any = None, alpha: float = 1.0, beta: float = 0.0, stream: Any = None) -> Any:
    """C = alpha·A·B + beta·C in true FP32, on the arrays' own device and current stream.

    Args:
        a: float32 of shape (m, k), or (batch, m, k): row-major, column-major (a transposed view), any leading
            dimension, any stride between matrices. NumPy arrays are computed by the emulator, all others on their GPU.
        b: float32 of shape (k, n), or (batch, k, n). A plain matrix, or a batch of 1, goes with any batch.
        out: C, which may not overlap `a`, `b` or itself. By default a new array of the library of `a`.
        alpha: the factor of A·B; with 0 neither A nor B is read.
        beta: the factor of C; with 0 C is not read, otherwise `out` is needed.
        stream: a stream's handle, or an object with ``__cuda_stream__``, instead of the current one of `a`'s library.

    Returns:
        C, of shape (m, n), or (batch, m, n); it is ready when the stream gets there.

    Raises:
        TypeError, ValueError: one line that says what is wrong with the arguments; nothing was launched.
        DeviceError: there is no usable driver.
        CompileError, LaunchError: the default schedule's kernel was refused, too.
    """
    if beta != 0 and out is None:
        raise ValueError(f"beta={beta} scales C: pass out=, or beta=0")
    handle = _handle(stream, a)
    seen_a, seen_b = arrays.read("a", a, handle), arrays.read("b", b, handle)
    if out is None:
        out = arrays.empty(_product_shape(seen_a.layout, seen_b.layout), a)
    c = arrays.read("out", out, handle)
    for name, view in (("a", seen_a), ("b", seen_b), ("out", c)):
        if view.dtype != "float32":
            raise TypeError(f"{name} has dtype {view.dtype}: sgemm takes float32")
    call = _sgemm_call(seen_a.layout, seen_b.layout, c.layout, beta != 0)
    _check_output(c, a=seen_a, b=seen_b)
    if 0 not in c.layout.shape:
        first, second = (seen_b, seen_a) if call.swapped else (seen_a, seen_b)
        values = {"a": first.pointer, "b": second.pointer, "c": c.pointer, "alpha": alpha, "beta": beta}
        plan.launch(operator("sgemm"), call.problem, c.device, values, handle)
    return out


def transpose(a: Any, *, out: Any = None, stream: Any = None) -> Any:
    """B = Aᵀ, out of place, for elements of 1, 2, 4, 8 or 16 bytes, on the array's own device and current stream.

    Args:
        a: of shape (m, n), or (batch, m, n), row-major with any leading dimension and any stride between matrices.
            A NumPy array is computed by the emulator, any other on its GPU.
        out: B, row-major too, of the dtype of `a`, which may overlap neither `a` nor itself. By default a new array
            of the library of `a`.
        stream: as for `sgemm`.

    Returns:
        B, of shape (n, m), or (batch, n, m); it is ready when the stream gets there.

    Raises:
        TypeError, ValueError, DeviceError, CompileError, LaunchError: as for `sgemm`.
    """
    handle = _handle(stream, a)
    seen = arrays.read("a", a, handle)
    if seen.itemsize not in ELEMENT_BYTES:
        raise TypeError(
            f"a has elements of {seen.itemsize} bytes: transpose takes {', '.join(map(str, ELEMENT_BYTES))}"
        )
    if out is None:
        out = arrays.empty(_transposed_shape(seen.layout), a)
    b = arrays.read("out", out, handle)
    if b.dtype != seen.dtype:
        raise TypeError(f"out has dtype {b.dtype}: expected {seen.dtype}, as a has")
    problem = _transpose_problem(seen.layout, b.layout, seen.itemsize)
    _check_output(b, a=seen)
    if 0 not in b.layout.shape:
        plan.launch(operator("transpose"), problem, b.device, {"a": seen.pointer, "b": b.pointer}, handle)
    return out


class _SgemmCall(NamedTuple):
    """The problem of a call; `swapped` if it computes Cᵀ = Bᵀ·Aᵀ, because C is column-major."""

    problem: SgemmProblem
    swapped: bool


@lru_cache(LAYOUTS_KEPT)
def _product_shape(a: Layout, b: Layout) -> Shape:
    first, second = matrices("a", a), matrices("b", b)
    if first.columns != second.rows:
        raise ValueError(f"a has shape {a.shape} and b {b.shape}: expected (…, m, k) and (…, k, n)")
    batch = joint_batch(first, second, (a.shape, b.shape))
    return (*(() if batch is None else (batch,)), first.rows, second.columns)


@lru_cache(LAYOUTS_KEPT)
def _sgemm_call(a: Layout, b: Layout, c: Layout, read_c: bool) -> _SgemmCall:
    _check_shape(c, _product_shape(a, b))
    first, second, product = (_aligned(*named, itemsize=4) for named in (("a", a), ("b", b), ("out", c)))
    _check_batch("out", c, product)
    swapped = product.transposed
    if swapped:
        first, second, product = second.mT, first.mT, product.mT
    problem = SgemmProblem(
        m=product.rows,
        n=product.columns,
        k=first.columns,
        transpose_a=first.transposed,
        transpose_b=second.transposed,
        lda=first.leading,
        ldb=second.leading,
        ldc=product.leading,
        batch=1 if product.batch is None else product.batch,
        stride_a=first.stride,
        stride_b=second.stride,
        stride_c=product.stride,
        read_c=read_c,
        align_a=first.alignment,
        align_b=second.alignment,
        align_c=product.alignment,
    )
    return _SgemmCall(problem, swapped)


@lru_cache(LAYOUTS_KEPT)
def _transposed_shape(a: Layout) -> Shape:
    matrices("a", a)
    return (*a.shape[:-2], a.shape[-1], a.shape[-2])


@lru_cache(LAYOUTS_KEPT)
def _transpose_problem(a: Layout, b: Layout, itemsize: int) -> TransposeProblem:
    _check_shape(b, _transposed_shape(a))
    source, result = _aligned("a", a, itemsize), _aligned("out", b, itemsize)
    for name, layout, seen in (("a", a, source), ("out", b, result)):
        if seen.transposed:
            raise ValueError(f"{name} has strides {layout.strides}: transpose takes row-major matrices")
        _check_batch(name, layout, seen)
    return TransposeProblem(
        m=source.rows,
        n=source.columns,
        element_bytes=itemsize,
        batch=1 if source.batch is None else source.batch,
        lda=source.leading,
        ldb=result.leading,
        stride_a=source.stride,
        stride_b=result.stride,
        align_a=source.alignment,
        align_b=result.alignment,
    )


def _handle(stream: Any, array: Any) -> int:
    """The handle of the stream that the caller names, else of the current one of the array's library."""
    if stream is None:
        return arrays.current_stream(array)
    handle: int = stream if isinstance(stream, int) else stream.__cuda_stream__()[1]
    return handle or arrays.LEGACY_DEFAULT_STREAM


def _aligned(name: str, layout: Layout, itemsize: int) -> Matrices:
    if layout.alignment < itemsize:
        raise ValueError(f"{name} is aligned to {layout.alignment} B: expected at least {itemsize} B; pass a copy")
    return matrices(name, layout)


def _check_shape(out: Layout, expected: Shape) -> None:
    if out.shape != expected:
        raise ValueError(f"out has shape {out.shape}: expected {expected}")


def _check_batch(name: str, layout: Layout, seen: Matrices) -> None:
    """Matrices must be apart where kernels write them, or do not know of broadcasting."""
    if seen.batch is not None and seen.batch > 1 and seen.stride == 0 and 0 not in layout.shape:
        raise ValueError(f"{name} has shape {layout.shape} and strides {layout.strides}: its matrices are all one")


def _check_output(out: View, **inputs: View) -> None:
    if out.readonly:
        raise ValueError("out is read-only")
    for name, view in inputs.items():
        if view.device != out.device:
            raise ValueError(f"{name} is on {_place(view)} and out on {_place(out)}: expected one device")
        if arrays.overlap(out, view):
            raise ValueError(f"out overlaps {name}: pass memory of its own")


def _place(view: View) -> str:
    return "the host" if view.device == arrays.HOST else f"CUDA device {view.device}"
