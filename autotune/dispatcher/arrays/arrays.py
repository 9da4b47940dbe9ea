"""The caller's arrays: where they are, how they are laid out, on which stream, and how to make another one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from autotune.search_spaces.contract.layouts import Shape

from . import libraries
from .libraries import Library
from .views import View

IMMUTABLE: set[type] = set()  # the types of arrays read so far that are `immutable`, to be asked in little time
LEGACY_DEFAULT_STREAM = 1  # CU_STREAM_LEGACY; DLPack does not allow 0, which means the same


def fingerprint(name: str, array: Any, stream: int) -> tuple[int, Hashable]:
    """An array's address, and what is equal for arrays whose views are equal but for the address; faster than `read`.

    Raises:
        TypeError, ValueError: as for `read`, perhaps only there.
    """
    return _library(array).fingerprint(name, array, stream)


def read(name: str, array: Any, stream: int) -> View:
    """See an array as a kernel will, ordered before what is launched on `stream` from now on.

    Raises:
        TypeError: not an array.
        ValueError: an array whose location or kind no kernel can work on.
    """
    return _library(array).read(name, array, stream)


def current_stream(array: Any) -> int:
    """The handle of the stream on which the array's own library works now.

    Where a library does not tell, the stream of the CUDA array interface, else the legacy default stream.
    """
    return _library(array).stream(array) or LEGACY_DEFAULT_STREAM


def stream_of(array: Any) -> Callable[[], int]:
    """What tells the current stream again and again: 0 for `LEGACY_DEFAULT_STREAM`."""
    return _library(array).streams(array)


def empty(shape: Shape, dtype: str, like: Any) -> Any:
    """A new row-major array from the library of `like`, on its device.

    Raises:
        ValueError: a library that is not known here.
    """
    return _library(like).empty(shape, dtype, like)


def values(array: Any) -> Any:
    """Those of an array, once they are ready, in NumPy.

    Raises:
        TypeError: an array of a library that is not known here.
    """
    return _library(array).values(array)


def stream_handle(stream: Any, array: Any) -> int:
    """The handle of the stream that the caller names, else of the current one of the array's library.

    Raises:
        TypeError, ValueError: what the caller names is no stream.
    """
    if stream is None:
        return current_stream(array)
    if isinstance(stream, int):
        handle = stream
    elif hasattr(stream, "__cuda_stream__"):
        handle = stream.__cuda_stream__()[1]
    else:
        raise TypeError(f"stream is a {type(stream).__name__}: expected a handle, or an object with __cuda_stream__")
    if handle < 0:
        raise ValueError(f"stream={handle}: expected a handle, 0 or more")
    return handle or LEGACY_DEFAULT_STREAM


def each(given: Iterable[Any]) -> Iterator[Any]:
    """Arrays, of which some are in lists."""
    for one in given:
        if isinstance(one, list | tuple):
            yield from one
        else:
            yield one


def immutable(array: Any) -> bool:
    """Whether arrays of its library are immutable."""
    return _library(array).immutable


def _library(array: Any) -> Library:
    return _known.get(type(array)) or _library_of(type(array))


def _library_of(kind: type) -> Library:
    """The library of a type of arrays, by the module of the type or of one that it derives from."""
    modules = (base.__module__.partition(".")[0] for base in kind.__mro__)
    _known[kind] = library = next((_LIBRARIES[module] for module in modules if module in _LIBRARIES), libraries.OTHER)
    if library.immutable:
        IMMUTABLE.add(kind)
    return library


_LIBRARIES = {
    "numpy": libraries.NUMPY,
    "torch": libraries.TORCH,
    "cupy": libraries.CUPY,
    "jax": libraries.JAX,
    "jaxlib": libraries.JAX,
}
_known: dict[type, Library] = {}
