"""One member of ``struct Arguments``, as data."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .launch import Fixed, Region, Value, at
from .tensor_map import TENSOR_MAP_BYTES, TensorMap

WORKSPACE = "workspace"
_CTYPES: Mapping[str, type] = {
    "bool": ctypes.c_bool,
    "signed char": ctypes.c_int8,
    "unsigned char": ctypes.c_uint8,
    "short": ctypes.c_int16,
    "unsigned short": ctypes.c_uint16,
    "int": ctypes.c_int32,
    "unsigned": ctypes.c_uint32,
    "long long": ctypes.c_int64,
    "unsigned long long": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
TensorMapBytes = ctypes.c_uint64 * (TENSOR_MAP_BYTES // 8)


@dataclass(frozen=True)
class Argument:
    """One member of ``struct Arguments``, which is the one parameter of every entry of a source.

    A scalar that lies in device memory is a pointer here and a tensor of one element of the problem.

    Attributes:
        name: the member's name; a pointer has that of its tensor, or is ``workspace``.
        cuda_type: a number's type such as ``int`` or ``unsigned long long``, a pointer type such as ``const float*``,
            or ``TensorMap``.
        value: the value where the problem fixes it; None for pointers and for scalars that the caller brings.
        tensor_map: what a ``TensorMap`` describes; it is encoded anew for each address of its tensor.
        positive, probability: of a scalar that the caller brings, whether it must be more than 0, or 0 to 1.
        given: the tensor or the scalar that it gets, if that has another name.
        offset: bytes from the address of that tensor.
    """

    name: str
    cuda_type: str
    value: float | None = None
    tensor_map: TensorMap | None = None
    positive: bool = False
    probability: bool = False
    given: str = ""
    offset: int = 0

    @property
    def pointer(self) -> bool:
        """Whether it is an address."""
        return self.cuda_type.endswith("*")

    @property
    def scalar(self) -> bool:
        """Whether the caller brings its value."""
        return self.value is None and not self.pointer and self.tensor_map is None

    @property
    def brought(self) -> str:
        """The name of the tensor or the scalar that a call brings for it, or ``workspace``; empty for a constant."""
        if self.tensor_map is not None:
            return self.tensor_map.tensor
        return (self.given or self.name) if self.value is None else ""

    @property
    def ctype(self) -> type:
        """The ctypes twin of `cuda_type`."""
        if self.tensor_map is not None:
            return TensorMapBytes
        return ctypes.c_void_p if self.pointer else _CTYPES[self.cuda_type]

    def taking(self, value: Fixed) -> Argument:
        """The member as a launch has it that takes a value of its own; see `Launch.taking`.

        Raises:
            ValueError: the member cannot hold it.
        """
        if isinstance(value, TensorMap) is not (self.tensor_map is not None):
            raise ValueError(f"{self.name} is a {self.cuda_type}: it cannot be {value}")
        if isinstance(value, TensorMap):
            return replace(self, tensor_map=value)
        if isinstance(value, str):
            return replace(self, given=value, value=None)
        if isinstance(value, Region) and self.pointer:
            return replace(self, given=WORKSPACE, offset=value.offset)
        if isinstance(value, Region) or self.pointer is not (value is None):
            raise ValueError(f"{self.name} is a {self.cuda_type}: it cannot be {value}")
        return replace(self, value=value or 0)


def arguments_of(entry: str, members: Iterable[Argument], values: Iterable[tuple[str, Value]]) -> tuple[Argument, ...]:
    """The members of a launch that takes some values of its own; in a repetition, of its first turn.

    Raises:
        ValueError: there is no such member.
    """
    own, members = dict(values), tuple(members)
    names = [one.name for one in members]
    if unknown := [name for name in own if name not in names]:
        raise ValueError(f"{entry} takes {unknown[0]}: expected one of {', '.join(names)}")
    return tuple(one.taking(at(own[one.name], 0)) if one.name in own else one for one in members)
