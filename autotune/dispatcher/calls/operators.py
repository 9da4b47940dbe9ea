"""The calls: from a user's arrays to an output and a launch.

A repeated call finds what is held for arrays of its kind by a glance at each, and checks only what a glance does not
tell: that the output overlaps no operand.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

from ..arrays import arrays
from ..arrays.arrays import glance
from ..arrays.layout import Shape
from ..targets.factory import target
from .held import Held, hold, kept
from .plans import Values
from .problems import product_shape, sgemm_call, transpose_problem, transposed_shape
from .repeated import Repeated

_UNALIGNED = 15  # bits of an address that are 0 where accesses may be as wide as they get
# What is held, the stream's handle, the values in the order of the kernel's arguments, the output.
_Call = tuple[Held, int, Values, Any]

_held: dict[Hashable, Held] = {}
_shapes: dict[Hashable, Shape] = {}
_repeated: Repeated[tuple[Held, Callable[[], int]]] = Repeated()  # with what tells the current stream
for _cache in (_held, _repeated):
    os.register_at_fork(after_in_child=_cache.clear)  # with the plans in it


def sgemm(a: Any, b: Any, *, out: Any = None, alpha: float = 1.0, beta: float = 0.0, stream: Any = None) -> Any:
    """C = alpha·A·B + beta·C in true FP32, on the arrays' own device and current stream.

    Args:
        a: float32 of shape (m, k), or (batch…, m, k): row-major, column-major (a transposed view), any leading
            dimension, any stride between matrices. NumPy arrays are computed by the emulator, all others on their GPU.
        b: float32 of shape (k, n), or (batch…, k, n). A plain matrix, or a batch of 1, goes with any batch.
        out: C, which may not overlap `a`, `b` or itself. By default a new array of the library of `a`.
        alpha: the factor of A·B; with 0 neither A nor B is read.
        beta: the factor of C; with 0 C is not read, otherwise `out` is needed.
        stream: a stream's handle, or an object with ``__cuda_stream__``, instead of the current one of `a`'s library.

    Returns:
        C, of shape (m, n), or (batch…, m, n); it is ready when the stream gets there.

    Raises:
        TypeError, ValueError: one line that says what is wrong with the arguments; nothing was launched.
        CaptureError: the stream is being captured, and there is no kernel yet.
        DeviceError: there is no usable driver.
        CompileError, LaunchError: the default schedule's kernel was refused, too.
    """
    held, handle, values, out = _sgemm(stream, a, b, out, alpha, beta)
    if held.plan is not None:
        held.plan.launch(handle, values)
        if type(out) in arrays.IMMUTABLE:
            target(held.out.device).synchronize(handle)
    return out


def transpose(a: Any, *, out: Any = None, stream: Any = None) -> Any:
    """B = Aᵀ, out of place, for elements of 1, 2, 4, 8 or 16 bytes, on the array's own device and current stream.

    Args:
        a: of shape (m, n), or (batch…, m, n), row-major with any leading dimension and any stride between matrices.
            A NumPy array is computed by the emulator, any other on its GPU.
        out: B, row-major too, of the dtype of `a`, which may overlap neither `a` nor itself. By default a new array
            of the library of `a`.
        stream: as for `sgemm`.

    Returns:
        B, of shape (n, m), or (batch…, n, m); it is ready when the stream gets there.

    Raises:
        TypeError, ValueError, CaptureError, DeviceError, CompileError, LaunchError: as for `sgemm`.
    """
    held, handle, values, out = _transpose(stream, a, out)
    if held.plan is not None:
        held.plan.launch(handle, values)
        if type(out) in arrays.IMMUTABLE:
            target(held.out.device).synchronize(handle)
    return out


def _sgemm(stream: Any, a: Any, b: Any, out: Any = None, alpha: float = 1.0, beta: float = 0.0) -> _Call:
    if out is None and beta != 0:
        raise ValueError(f"beta={beta} scales C: pass out=, or beta=0")
    beta_nonzero = beta != 0
    if out is None:
        like = _repeated.like(beta_nonzero, a, b)
        if like is not None:
            out = arrays.empty(like[0].out.layout.shape, a)
    known = _repeated.find(beta_nonzero, a, b, out)
    if known is not None:
        at_a, at_b, at_c = a.data_ptr(), b.data_ptr(), out.data_ptr()
        if not (at_a | at_b | at_c) & _UNALIGNED:
            held, current = known
            held.check_apart(at_c, at_a, at_b)
            handle = stream_handle(stream, a) if stream is not None else current() or arrays.LEGACY_DEFAULT_STREAM
            first, second = (at_b, at_a) if held.swapped else (at_a, at_b)
            return held, handle, (first, second, at_c, alpha, beta), out
    handle = stream_handle(stream, a)
    at_a, seen_a = glance("a", a, handle)
    at_b, seen_b = glance("b", b, handle)
    if out is None:
        shape = _shapes.get((seen_a, seen_b)) or kept(_shapes, (seen_a, seen_b), partial(_product, handle, a, b))
        out = arrays.empty(shape, a)
    else:
        _check_mutable(out)
    at_c, seen_c = glance("out", out, handle)
    key = "sgemm", seen_a, seen_b, seen_c, beta_nonzero
    held = _held.get(key) or kept(_held, key, partial(_held_sgemm, handle, a, b, out, beta_nonzero))
    held.check_apart(at_c, at_a, at_b)
    if not (at_a | at_b | at_c) & _UNALIGNED:
        _repeated.remember(beta_nonzero, (held, arrays.stream_of(a)), a, b, out)
    first, second = (at_b, at_a) if held.swapped else (at_a, at_b)
    return held, handle, (first, second, at_c, alpha, beta), out


def _product(handle: int, a: Any, b: Any) -> Shape:
    return product_shape(arrays.read("a", a, handle).layout, arrays.read("b", b, handle).layout)


def _held_sgemm(handle: int, a: Any, b: Any, out: Any, beta_nonzero: bool) -> Held:
    views = {"a": arrays.read("a", a, handle), "b": arrays.read("b", b, handle)}
    c = arrays.read("out", out, handle)
    call = sgemm_call(views["a"], views["b"], c, beta_nonzero)
    return hold("sgemm", call.problem, c, views, handle, call.swapped)


def _transpose(stream: Any, a: Any, out: Any = None) -> _Call:
    handle = stream_handle(stream, a)
    at_a, seen_a = glance("a", a, handle)
    if out is None:
        out = arrays.empty(transposed_shape(arrays.read("a", a, handle).layout), a)
    else:
        _check_mutable(out)
    at_b, seen_b = glance("out", out, handle)
    key = "transpose", seen_a, seen_b
    held = _held.get(key) or kept(_held, key, partial(_held_transpose, handle, a, out))
    held.check_apart(at_b, at_a)
    return held, handle, (at_a, at_b), out


def _held_transpose(handle: int, a: Any, out: Any) -> Held:
    source, result = arrays.read("a", a, handle), arrays.read("out", out, handle)
    problem = transpose_problem(source, result)
    return hold("transpose", problem, result, {"a": source}, handle, swapped=False)


def _check_mutable(out: Any) -> None:
    if arrays.immutable(out):
        raise ValueError(f"out is a {type(out).__name__}, and arrays of its library are immutable: leave out= away")


def stream_handle(stream: Any, array: Any) -> int:
    """The handle of the stream that the caller names, else of the current one of the array's library."""
    if stream is None:
        return arrays.current_stream(array)
    handle: int = stream if isinstance(stream, int) else stream.__cuda_stream__()[1]
    return handle or arrays.LEGACY_DEFAULT_STREAM


# What each operator's call comes to, before it is launched: this takes the stream, or None, and the call's arguments.
CALLS: Mapping[str, Callable[..., _Call]] = {"sgemm": _sgemm, "transpose": _transpose}
