"""How the arrays of each library are read, on which stream it works, and how it makes another array.

No library is imported here: whoever has an array of one has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.search_spaces.contract.layouts import Layout, Shape

from .views import HOST, View

_ON_CUDA = (2, 13)  # DLPack's device types kDLCUDA and kDLCUDAManaged


class Library(NamedTuple):
    """What differs between the libraries that arrays come from.

    Attributes:
        fingerprint, read: see `arrays`.
        stream: the handle of the stream on which an array's library works now; 0 for the legacy default stream.
        streams: what tells that again and again.
        empty: a new row-major array of a shape and a dtype's name, on the device of another one.
        values: those of an array, once they are ready, in NumPy.
        immutable: whether users cannot write to arrays, so that results are returned when complete.
    """

    fingerprint: Callable[[str, Any, int], tuple[int, Hashable]]
    read: Callable[[str, Any, int], View]
    stream: Callable[[Any], int]
    streams: Callable[[Any], Callable[[], int]]
    empty: Callable[[Shape, str, Any], Any]
    values: Callable[[Any], Any]
    immutable: bool = False


@cache
def _dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _layout(pointer: int, shape: Shape, strides: Shape, dtype: Any, itemsize: int) -> Layout:
    return Layout(shape, strides, _dtype_name(dtype), itemsize, min(WIDEST_ACCESS, pointer & -pointer) or WIDEST_ACCESS)


def _fingerprint_by_reading(
    read: Callable[[str, Any, int], View], name: str, array: Any, stream: int
) -> tuple[int, Hashable]:
    view = read(name, array, stream)
    return view.pointer, view._replace(pointer=0)


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
    layout = _layout(pointer, array.shape, strides, array.dtype, array.itemsize)
    return View(pointer, layout, HOST, not array.flags.writeable)


def _empty_numpy(shape: Shape, dtype: str, like: Any) -> Any:
    return np.empty(shape, _numpy_dtype(dtype, like))


def _numpy_dtype(name: str, like: Any) -> Any:
    """The dtype of an array if it has this name, which need not be a `DType`; else that of the `DType`."""
    return like.dtype if _dtype_name(like.dtype) == name else DType(name).numpy


# ---- PyTorch: read directly, which takes a tenth of the time that its DLPack export does -----------------------------


def _fingerprint_torch(name: str, array: Any, stream: int) -> tuple[int, Hashable]:
    if array.requires_grad:
        _refuse_gradient(name)
    pointer: int = array.data_ptr()
    dtype, device = array.dtype, array.get_device() if array.is_cuda else array.device
    lazy = array.is_neg() or (dtype.is_complex and array.is_conj())
    return pointer, (array.shape, array.stride(), dtype, device, pointer % WIDEST_ACCESS, lazy)


def _read_torch(name: str, array: Any, stream: int) -> View:
    if not (array.is_cuda or array.is_cpu):
        raise _elsewhere(name, array.device)
    if array.requires_grad:
        _refuse_gradient(name)
    if array.is_conj() or array.is_neg():
        raise ValueError(f"{name} is a lazily conjugated or negated view: call resolve_conj() or resolve_neg() first")
    pointer = array.data_ptr()
    layout = _layout(pointer, tuple(array.shape), array.stride(), array.dtype, array.itemsize)
    return View(pointer, layout, array.get_device(), False)  # PyTorch's number of the CPU is `HOST`


def _refuse_gradient(name: str) -> None:
    if sys.modules["torch"].is_grad_enabled():
        raise ValueError(f"{name} requires a gradient, which is not computed here: pass {name}.detach()")


def _stream_torch(array: Any) -> int:
    device = array.get_device()
    if device < 0:
        return 0  # the emulator has no streams; what is wrong with other tensors, `read` says
    # The function behind torch.cuda.current_stream, which makes an object of the handle and takes five times as long.
    handle: int = sys.modules["torch"]._C._cuda_getCurrentRawStream(device)
    return handle


def _stream_of_torch(array: Any) -> Callable[[], int]:
    if not array.is_cuda:
        return int
    return partial(sys.modules["torch"]._C._cuda_getCurrentRawStream, array.get_device())


def _empty_torch(shape: Shape, dtype: str, like: Any) -> Any:
    torch = sys.modules["torch"]
    return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)


# ---- CuPy, JAX and all others: by DLPack or the CUDA array interface -------------------------------------------------


def _read_interface(name: str, array: Any, stream: int) -> View:
    if not (hasattr(array, "__dlpack__") or hasattr(array, "__cuda_array_interface__")):
        raise TypeError(
            f"{name} is a {type(array).__name__}: expected a NumPy array, or one with DLPack or the CUDA array "
            "interface"
        )
    if hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] not in _ON_CUDA:
        raise _elsewhere(name, f"DLPack device {tuple(map(int, array.__dlpack_device__()))}")
    try:
        view = _strided_view(array, stream)
        dtype = view.dtype
    except (BufferError, NotImplementedError) as error:
        raise ValueError(f"{name} cannot be read: {error}") from None
    layout = _layout(view.ptr, view.shape, view.strides or _dense_strides(view.shape), dtype, dtype.itemsize)
    return View(view.ptr, layout, view.device_id, view.readonly)


def _strided_view(array: Any, stream: int) -> Any:
    from cuda.core.utils import StridedMemoryView

    if isinstance(array, StridedMemoryView):  # which exports no bfloat16 by DLPack, as of cuda.core 1.2
        return array
    return StridedMemoryView.from_any_interface(array, stream_ptr=stream)


def _dense_strides(shape: Shape) -> Shape:
    strides = [1]
    for size in shape[:0:-1]:
        strides.append(strides[-1] * size)
    return tuple(reversed(strides[: len(shape)]))


def _stream_of_interface(array: Any) -> int:
    interface = getattr(array, "__cuda_array_interface__", {})
    return interface.get("stream") or 0


def _empty_unknown(shape: Shape, dtype: str, like: Any) -> Any:
    raise ValueError(f"cannot allocate a {type(like).__module__}.{type(like).__name__}: pass out=, of shape {shape}")


def _stream_cupy(array: Any) -> int:
    with array.device:
        handle: int = sys.modules["cupy"].cuda.get_current_stream().ptr
    return handle


def _empty_cupy(shape: Shape, dtype: str, like: Any) -> Any:
    with like.device:
        return sys.modules["cupy"].empty(shape, _numpy_dtype(dtype, like))


def _values_unknown(array: Any) -> Any:
    raise TypeError(f"AUTOTUNE_CHECK reads arrays of NumPy, PyTorch, CuPy and JAX, and not a {type(array).__name__}")


def _elsewhere(name: str, device: object) -> ValueError:
    return ValueError(f"{name} is on {device}: move it to a GPU, or pass NumPy arrays, which the emulator computes")


def _read_jax(name: str, array: Any, stream: int) -> View:
    if isinstance(array, sys.modules["jax"].core.Tracer):
        raise TypeError(f"{name} is traced by JAX and has no values: call this outside of jax.jit and jax.grad")
    return _read_interface(name, array, stream)


def _empty_jax(shape: Shape, dtype: str, like: Any) -> Any:
    return sys.modules["jax"].numpy.empty(shape, _numpy_dtype(dtype, like), device=like.device)


def _reading(
    read: Callable[[str, Any, int], View],
    stream: Callable[[Any], int],
    empty: Callable[[Shape, str, Any], Any],
    values: Callable[[Any], Any] = np.asarray,
    *,
    immutable: bool = False,
) -> Library:
    """A library whose arrays are read as a whole even for their fingerprint."""
    return Library(
        partial(_fingerprint_by_reading, read), read, stream, partial(partial, stream), empty, values, immutable
    )


NUMPY = _reading(_read_numpy, lambda array: 0, _empty_numpy)
TORCH = Library(
    _fingerprint_torch, _read_torch, _stream_torch, _stream_of_torch, _empty_torch, lambda array: array.cpu().numpy()
)
CUPY = _reading(_read_interface, _stream_cupy, _empty_cupy, lambda array: array.get())
JAX = _reading(_read_jax, lambda array: 0, _empty_jax, immutable=True)
OTHER = _reading(_read_interface, _stream_of_interface, _empty_unknown, _values_unknown)
