"""Tensor maps as the driver encodes them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from cuda.bindings import driver

from ..codegen.dtype import DType
from ..codegen.tensor_map import TENSOR_MAP_BYTES, Swizzle, TensorMap
from ..cuda_core import handle_return

_Type = driver.CUtensorMapDataType
_Swizzle = driver.CUtensorMapSwizzle
_TYPES: Mapping[DType, Any] = {
    DType.FLOAT64: _Type.CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    DType.FLOAT32: _Type.CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    DType.FLOAT16: _Type.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    DType.BFLOAT16: _Type.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    DType.INT32: _Type.CU_TENSOR_MAP_DATA_TYPE_INT32,
    DType.INT64: _Type.CU_TENSOR_MAP_DATA_TYPE_INT64,
    DType.UINT16: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT16,
    DType.UINT32: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT32,
    DType.UINT64: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT64,
    # Copies move bits: for the other types of a byte the driver has no name of their own.
    DType.UINT8: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DType.INT8: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DType.BOOL: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DType.FLOAT8_E4M3: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DType.FLOAT8_E5M2: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
}
_SWIZZLES: Mapping[Swizzle, Any] = {
    Swizzle.NONE: _Swizzle.CU_TENSOR_MAP_SWIZZLE_NONE,
    Swizzle.B32: _Swizzle.CU_TENSOR_MAP_SWIZZLE_32B,
    Swizzle.B64: _Swizzle.CU_TENSOR_MAP_SWIZZLE_64B,
    Swizzle.B128: _Swizzle.CU_TENSOR_MAP_SWIZZLE_128B,
}


def encode(tensor_map: TensorMap, address: int) -> bytes:
    """The ``CUtensorMap`` of a tensor at an address, which is a multiple of 16; see `program.Encode`.

    Raises:
        CUDAError: the driver refuses it.
    """
    dtype = DType(tensor_map.dtype)
    encoded = handle_return(
        driver.cuTensorMapEncodeTiled(
            _TYPES[dtype],
            2,
            address,
            [driver.cuuint64_t(size) for size in (tensor_map.columns, tensor_map.rows)],
            [driver.cuuint64_t(tensor_map.leading * dtype.bytes)],
            [driver.cuuint32_t(size) for size in (tensor_map.box_columns, tensor_map.box_rows)],
            [driver.cuuint32_t(1), driver.cuuint32_t(1)],
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            _SWIZZLES[tensor_map.swizzle],
            driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    )
    return ctypes.string_at(encoded.getPtr(), TENSOR_MAP_BYTES)
