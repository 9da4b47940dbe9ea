"""The type that results are converted to."""

from __future__ import annotations

from enum import StrEnum

from autotune.codegen.model.dtype import DType


class OutDType(StrEnum):
    """The type of results, which is mostly that of an operand."""

    SAME = "same"
    FLOAT32 = DType.FLOAT32.value
    BFLOAT16 = DType.BFLOAT16.value
    FLOAT16 = DType.FLOAT16.value
    FLOAT8_E4M3 = DType.FLOAT8_E4M3.value
    FLOAT8_E5M2 = DType.FLOAT8_E5M2.value
    INT8 = DType.INT8.value
    INT32 = DType.INT32.value

    def of(self, dtype: DType) -> DType:
        """The type of results, where that of the operand is `dtype`."""
        return dtype if self is OutDType.SAME else DType(self)

    def beside(self, dtype: DType) -> OutDType:
        """``SAME`` in place of the operand's own type: equal problems are equal objects."""
        return OutDType.SAME if self.value == dtype.value else self
