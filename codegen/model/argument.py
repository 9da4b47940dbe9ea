"""One member of ``struct Arguments``, as data."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from .tensor_map import TENSOR_MAP_BYTES, TensorMap

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
    """One member of ``struct Arguments``, which is the one parameter of every entry.

    A scalar that lies in device memory is a pointer here and a tensor of one element of the problem.

    Attributes:
        name: the member's name; a pointer has that of its tensor, or is ``workspace``.
        cuda_type: a number's type such as ``int`` or ``unsigned long long``, a pointer type such as ``const float*``,
            or ``TensorMap``.
        value: the value where the problem fixes it; None for pointers and for scalars that the caller brings.
        tensor_map: what a ``TensorMap`` describes; it is encoded anew for each address of its tensor.
        positive, probability: of a scalar that the caller brings, whether it must be more than 0, or 0 to 1.
    """

    name: str
    cuda_type: str
    value: int | None = None
    tensor_map: TensorMap | None = None
    positive: bool = False
    probability: bool = False

    @property
    def pointer(self) -> bool:
        """Whether it is an address."""
        return self.cuda_type.endswith("*")

    @property
    def scalar(self) -> bool:
        """Whether the caller brings its value."""
        return self.value is None and not self.pointer and self.tensor_map is None

    @property
    def ctype(self) -> type:
        """The ctypes twin of `cuda_type`."""
        if self.tensor_map is not None:
            return TensorMapBytes
        return ctypes.c_void_p if self.pointer else _CTYPES[self.cuda_type]
