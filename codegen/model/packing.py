"""``struct Arguments`` as the driver and the emulator take it: packed bytes."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol, TypeVar

from .argument import Argument, TensorMapBytes
from .tensor_map import TensorMap

_T = TypeVar("_T")


class Encode(Protocol):
    """Makes the `TENSOR_MAP_BYTES` bytes of a tensor map that begins at an address."""

    def __call__(self, tensor_map: TensorMap, address: int) -> bytes: ...  # noqa: D102


def packed(
    name: str,
    arguments: Sequence[Argument],
    pointers: Mapping[str, int],
    scalars: Mapping[str, float],
    encode: Encode | None = None,
) -> ctypes.Structure:
    """An argument struct with the constants of its members, device addresses and scalars; see `Program.pack`.

    Raises:
        ValueError: a pointer or a scalar was not given; `name` is the kernel's in the message.
    """

    def given(values: Mapping[str, _T], wanted: str) -> _T:
        if wanted not in values:
            raise ValueError(f"{name} takes {wanted}, which is none of {', '.join(values)}")
        return values[wanted]

    def value(argument: Argument) -> object:
        if argument.tensor_map is not None:
            assert encode is not None
            tensor_map = argument.tensor_map
            encoded = encode(tensor_map, given(pointers, tensor_map.tensor) + tensor_map.offset)
            return TensorMapBytes.from_buffer_copy(encoded)
        if argument.pointer:
            return given(pointers, argument.name)
        return given(scalars, argument.name) if argument.value is None else argument.value

    return _structure(tuple((a.name, a.ctype) for a in arguments))(*map(value, arguments))


@cache
def _structure(members: tuple[tuple[str, type], ...]) -> type[ctypes.Structure]:
    """The twin of ``struct Arguments``; with tensor maps, which come first, as long as their alignment makes that."""
    plain: type[ctypes.Structure] = type("Arguments", (ctypes.Structure,), {"_fields_": members})
    if not any(kind is TensorMapBytes for _, kind in members):
        return plain
    padding = -ctypes.sizeof(plain) % 64
    return type("Arguments", (ctypes.Structure,), {"_fields_": (*members, ("padding_", ctypes.c_uint8 * padding))})
