"""One type of an element, from NumPy to CUDA to the comparison of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np


class DType(StrEnum):
    """The type of a tensor's elements, by NumPy's name where there is one (ml_dtypes' for the narrow floats)."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT8_E4M3 = "float8_e4m3fn"
    FLOAT8_E5M2 = "float8_e5m2"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    BOOL = "bool"
    INT4 = "int4"  # packed, two in a byte, the first one in the lower half; no operator has it yet

    @cached_property
    def bits(self) -> int:
        """Bits of an element."""
        return _FACTS[self].bits

    @cached_property
    def bytes(self) -> int:
        """Bytes of the unit that is stored: an element, or the byte that two elements of 4 bits share."""
        return max(1, self.bits // 8)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of the unit that is stored; ml_dtypes is imported for the types that NumPy lacks."""
        if self is DType.INT4:
            return np.dtype(np.uint8)
        if self in _OF_ML_DTYPES:
            import ml_dtypes

            narrow: type[np.generic] = getattr(ml_dtypes, self.value)
            return np.dtype(narrow)
        return np.dtype(self.value)

    @property
    def cuda(self) -> str:
        """The C++ type of the unit that is stored; those of 8 and 16 bits that are no integers are the project's."""
        return _FACTS[self].cuda

    @property
    def is_float(self) -> bool:
        """Whether it has fractions, and NaN."""
        return _FACTS[self].precision > 0

    @property
    def roundoff(self) -> float:
        """The unit roundoff: the largest relative error of rounding to a normal number; 0 for integers."""
        return 2.0 ** -_FACTS[self].precision if self.is_float else 0.0

    @property
    def largest(self) -> float:
        """The largest finite number of a floating-point type; 0 for integers."""
        return _FACTS[self].largest

    @property
    def smallest(self) -> float:
        """The smallest positive (subnormal) number of a floating-point type; 0 for integers."""
        return _FACTS[self].smallest


@dataclass(frozen=True)
class _Facts:
    """Of floating-point types: `precision` counts the bits of the significand, the leading one included."""

    bits: int
    cuda: str
    precision: int = 0
    largest: float = 0.0
    smallest: float = 0.0


_OF_ML_DTYPES = frozenset({DType.BFLOAT16, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2})
_FACTS = {
    DType.FLOAT64: _Facts(64, "double", 53, (2 - 2.0**-52) * 2.0**1023, 2.0**-1074),
    DType.FLOAT32: _Facts(32, "float", 24, (2 - 2.0**-23) * 2.0**127, 2.0**-149),
    DType.FLOAT16: _Facts(16, "float16", 11, 65504.0, 2.0**-24),
    DType.BFLOAT16: _Facts(16, "bfloat16", 8, (2 - 2.0**-7) * 2.0**127, 2.0**-133),
    DType.FLOAT8_E4M3: _Facts(8, "float8_e4m3", 4, 448.0, 2.0**-9),
    DType.FLOAT8_E5M2: _Facts(8, "float8_e5m2", 3, 57344.0, 2.0**-16),
    DType.INT8: _Facts(8, "signed char"),
    DType.INT32: _Facts(32, "int"),
    DType.INT64: _Facts(64, "long long"),
    DType.UINT8: _Facts(8, "unsigned char"),
    DType.INT16: _Facts(16, "short"),
    DType.UINT16: _Facts(16, "unsigned short"),
    DType.UINT32: _Facts(32, "unsigned"),
    DType.UINT64: _Facts(64, "unsigned long long"),
    DType.BOOL: _Facts(8, "bool"),
    DType.INT4: _Facts(4, "unsigned char"),
}
