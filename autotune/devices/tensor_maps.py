"""Tensor maps as the driver encodes them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from threading import Lock
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
_MOST_KEPT = 256
_encoded: dict[TensorMap, Any] = {}  # at some address; a call of the driver lets other threads run
_encoding = Lock()


def encode(tensor_map: TensorMap, address: int) -> bytes:
    """The ``CUtensorMap`` of a tensor at an address, which is a multiple of 16; see `program.Encode`.

    A map that was encoded before gets another address, which costs less than to encode it anew.

    Raises:
        CUDAError: the driver refuses it.
    """
    with _encoding:
        encoded = _encoded.get(tensor_map)
        if encoded is None:
            if len(_encoded) == _MOST_KEPT:
                _encoded.clear()
            encoded = _encoded[tensor_map] = _anew(tensor_map, address)
        else:
            handle_return(driver.cuTensorMapReplaceAddress(encoded, address))
        return ctypes.string_at(encoded.getPtr(), TENSOR_MAP_BYTES)


def _anew(tensor_map: TensorMap, address: int) -> Any:
    dtype, rank = DType(tensor_map.dtype), len(tensor_map.shape)
    return handle_return(
        driver.cuTensorMapEncodeTiled(
            _TYPES[dtype],
            rank,
            address,
            [driver.cuuint64_t(size) for size in reversed(tensor_map.shape)],
            [driver.cuuint64_t(stride * dtype.bytes) for stride in reversed(tensor_map.strides[:-1])],
            [driver.cuuint32_t(size) for size in reversed(tensor_map.box)],
            [driver.cuuint32_t(1)] * rank,
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            _SWIZZLES[tensor_map.swizzle],
            driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    )
