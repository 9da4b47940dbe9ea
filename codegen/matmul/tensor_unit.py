"""Which tensor cores multiply a type."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.work import Unit

_UNITS = {
    DType.FLOAT16: Unit.TENSOR_FP16,
    DType.BFLOAT16: Unit.TENSOR_BF16,
    DType.FLOAT32: Unit.TENSOR_TF32,
    DType.FLOAT8_E4M3: Unit.TENSOR_FP8,
    DType.FLOAT8_E5M2: Unit.TENSOR_FP8,
    DType.INT8: Unit.TENSOR_INT8,
}


def unit_of(dtype: DType) -> Unit:
    """The tensor cores of a type, which a device may lack (`DeviceSpec.executing`)."""
    return _UNITS[dtype]
