"""The caller's arrays: where they are, how they are laid out, on which stream, and how to make another one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

HOST = -1  # the ordinal that stands for NumPy arrays and the emulator
LEGACY_DEFAULT_STREAM = 1  # CU_STREAM_LEGACY; DLPack does not allow 0, which means the same
LAYOUTS_KEPT = 4096  # of which what follows from them is remembered

_ON_CUDA = (2, 13)  # DLPack's device types kDLCUDA and kDLCUDAManaged
_WIDEST = 16  # bytes of the widest access of a thread: more alignment than that is of no use

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """What of an array decides which kernel may serve it.

    Attributes:
        shape: elements along each axis.
        strides: elements from one index to the next along each axis.
        alignment: bytes, a power of two of at most 16, that the first element's address is a multiple of.
    """

    shape: Shape
    strides: Shape
    alignment: int


class View(NamedTuple):
    """An array as a kernel sees it.

    Attributes:
        pointer: the address of the first element.
        layout: shape, strides and alignment.
        dtype: the name that its library gives it, such as ``float32``.
        itemsize: bytes of an element.
        device: the ordinal of its GPU, or `HOST`.
        readonly: whether its library forbids to write to it.
    """

    pointer: int
    layout: Layout
    dtype: str
    itemsize: int
    device: int
    readonly: bool


def read(name: str, array: Any, stream: int) -> View:
    """See an array as a kernel will, ordered before what is launched on `stream` from now on.

    Raises:
        TypeError: not an array.
        ValueError: an array in a place or of a kind that no kernel can work on.
    """
    return _library(array).read(name, array, stream)


def current_stream(array: Any) -> int:
    """The handle of the stream on which the array's own library works now.

    Where a library does not tell, the stream of the CUDA array interface, else the legacy default stream.
    """
    return _library(array).stream(array) or LEGACY_DEFAULT_STREAM


def empty(shape: Shape, like: Any) -> Any:
    """A new row-major array from the library of `like`, of its dtype and on its device.

    Raises:
        ValueError: a library that is not known here.
    """
    return _library(like).empty(shape, like)


def overlap(first: View, second: View) -> bool:
    """Whether two arrays of one device have an element's byte in common; their strides may not be negative."""
    low, high = (first, second) if first.pointer <= second.pointer else (second, first)
    if high.pointer >= low.pointer + low.itemsize * _extent(low.layout):
        return False
    # Interleaved arrays, such as two slices of the columns of one matrix, need the exact answer. NumPy finds it from
    # addresses and strides alone, so those may be a GPU's.
    return np.shares_memory(np.asarray(_Interface(low)), np.asarray(_Interface(high)))


@lru_cache(LAYOUTS_KEPT)
def _extent(layout: Layout) -> int:
    """Elements from the first to the last, gaps included."""
    if 0 in layout.shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(layout.shape, layout.strides, strict=True))


class _Interface:
    """What NumPy asks about memory that it need not touch."""

    def __init__(self, view: View) -> None:
        self.__array_interface__ = {
            "data": (view.pointer, True),
            "shape": view.layout.shape,
            "strides": tuple(stride * view.itemsize for stride in view.layout.strides),
            "typestr": f"|V{view.itemsize}",
            "version": 3,
        }


class _Library(NamedTuple):
    """What differs between the libraries that arrays come from."""

    read: Callable[[str, Any, int], View]
    stream: Callable[[Any], int]
    empty: Callable[[Shape, Any], Any]


def _library(array: Any) -> _Library:
    kind: Any = type(array)
    return _library_of(kind)


@cache
def _library_of(kind: type) -> _Library:
    """The library of a type of arrays, by the module of the type or of one that it derives from."""
    modules = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((_LIBRARIES[module] for module in modules if module in _LIBRARIES), _OTHER)


@cache
def _dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _layout(pointer: int, shape: Shape, strides: Shape) -> Layout:
    return Layout(shape, strides, min(_WIDEST, pointer & -pointer) or _WIDEST)


# ---- NumPy ----------------------------------------------------------------------------------------------------------


def _read_numpy(name: str, array: Any, stream: int) -> View:
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a {type(array).__name__}: expected a plain array")
    if array.dtype.hasobject:
        raise TypeError(f"{name} has dtype {array.dtype}: expected plain numbers")
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(f"{name} has strides {array.strides} in bytes: expected multiples of {array.itemsize}")
    strides = tuple(stride // array.itemsize for stride in array.strides)
    pointer = array.ctypes.data
    layout = _layout(pointer, array.shape, strides)
    return View(pointer, layout, _dtype_name(array.dtype), array.itemsize, HOST, not array.flags.writeable)


def _empty_numpy(shape: Shape, like: Any) -> Any:
    return np.empty(shape, like.dtype)


# ---- PyTorch: read directly, which takes a tenth of the time that its DLPack export does -----------------------------


def _read_torch(name: str, array: Any, stream: int) -> View:
    if not array.is_cuda:
        raise _on_host(name, array.device)
    if array.requires_grad and sys.modules["torch"].is_grad_enabled():
        raise ValueError(f"{name} requires a gradient, which is not computed here: pass {name}.detach()")
    if array.is_conj() or array.is_neg():
        raise ValueError(f"{name} is a lazily conjugated or negated view: call resolve_conj() or resolve_neg() first")
    pointer = array.data_ptr()
    layout = _layout(pointer, tuple(array.shape), array.stride())
    return View(pointer, layout, _dtype_name(array.dtype), array.itemsize, array.get_device(), False)


def _stream_torch(array: Any) -> int:
    if not array.is_cuda:
        return 0  # what is wrong with it, `read` says
    handle: int = sys.modules["torch"].cuda.current_stream(array.device).cuda_stream
    return handle


def _empty_torch(shape: Shape, like: Any) -> Any:
    return sys.modules["torch"].empty(shape, dtype=like.dtype, device=like.device)


# ---- CuPy and all others: by DLPack or the CUDA array interface ------------------------------------------------------


def _read_interface(name: str, array: Any, stream: int) -> View:
    from cuda.core.utils import StridedMemoryView

    if not (hasattr(array, "__dlpack__") or hasattr(array, "__cuda_array_interface__")):
        raise TypeError(
            f"{name} is a {type(array).__name__}: expected a NumPy array, or one that speaks DLPack or the CUDA array "
            "interface"
        )
    if hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] not in _ON_CUDA:
        raise _on_host(name, f"DLPack device {tuple(map(int, array.__dlpack_device__()))}")
    try:
        view = StridedMemoryView.from_any_interface(array, stream_ptr=stream)
        dtype = view.dtype
    except (BufferError, NotImplementedError) as error:
        raise ValueError(f"{name} cannot be read: {error}") from None
    layout = _layout(view.ptr, view.shape, view.strides or _dense_strides(view.shape))
    return View(view.ptr, layout, _dtype_name(dtype), dtype.itemsize, view.device_id, view.readonly)


def _dense_strides(shape: Shape) -> Shape:
    strides = [1]
    for size in shape[:0:-1]:
        strides.append(strides[-1] * size)
    return tuple(reversed(strides[: len(shape)]))


def _stream_of_interface(array: Any) -> int:
    interface = getattr(array, "__cuda_array_interface__", {})
    return interface.get("stream") or 0


def _empty_unknown(shape: Shape, like: Any) -> Any:
    raise ValueError(f"cannot allocate a {type(like).__module__}.{type(like).__name__}: pass out=, of shape {shape}")


def _stream_cupy(array: Any) -> int:
    with array.device:
        handle: int = sys.modules["cupy"].cuda.get_current_stream().ptr
    return handle


def _empty_cupy(shape: Shape, like: Any) -> Any:
    with like.device:
        return sys.modules["cupy"].empty(shape, like.dtype)


def _on_host(name: str, place: object) -> ValueError:
    return ValueError(f"{name} is on {place}: move it to a GPU, or pass NumPy arrays, which the emulator computes")


# No library is imported here: whoever has an array of one has imported it.
_LIBRARIES = {
    "numpy": _Library(_read_numpy, lambda array: 0, _empty_numpy),
    "torch": _Library(_read_torch, _stream_torch, _empty_torch),
    "cupy": _Library(_read_interface, _stream_cupy, _empty_cupy),
}
_OTHER = _Library(_read_interface, _stream_of_interface, _empty_unknown)
