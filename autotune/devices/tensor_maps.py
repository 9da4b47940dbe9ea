"""Tensor maps as the driver encodes them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from cuda.bindings import driver

from autotune.base.cuda_core import handle_return
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES, Swizzle, TensorMap

_Type = driver.CUtensorMapDataType
_Swizzle = driver.CUtensorMapSwizzle
TYPES: Mapping[DType, Any] = {
    DType.FLOAT64: _Type.CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    DType.FLOAT32: _Type.CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    DType.FLOAT16: _Type.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    DType.BFLOAT16: _Type.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    DType.INT32: _Type.CU_TENSOR_MAP_DATA_TYPE_INT32,
    DType.INT64: _Type.CU_TENSOR_MAP_DATA_TYPE_INT64,
    DType.UINT16: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT16,
    DType.UINT32: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT32,
    DType.UINT64: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT64,
    # Copies move bits: for the other types of one and two bytes the driver has no name of their own.
    DType.INT16: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT16,
    DType.UINT8: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DType.INT8: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DType.BOOL: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DType.FLOAT8_E4M3: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DType.FLOAT8_E5M2: _Type.CU_TENSOR_MAP_DATA_TYPE_UINT8,
}
SWIZZLES: Mapping[Swizzle, Any] = {
    Swizzle.NONE: _Swizzle.CU_TENSOR_MAP_SWIZZLE_NONE,
    Swizzle.B32: _Swizzle.CU_TENSOR_MAP_SWIZZLE_32B,
    Swizzle.B64: _Swizzle.CU_TENSOR_MAP_SWIZZLE_64B,
    Swizzle.B128: _Swizzle.CU_TENSOR_MAP_SWIZZLE_128B,
}


def type_of(tensor_map: TensorMap) -> Any:
    """The driver's name of what the elements are, and become."""
    return _Type.CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 if tensor_map.tf32 else TYPES[DType(tensor_map.dtype)]


_ADDRESS_BYTES = 8
_UNUSED_STRIDE = 16  # bytes, which a single dimension ignores: the driver refuses to be given none


def encode(tensor_map: TensorMap, address: int) -> bytes:
    """The ``CUtensorMap`` of a tensor at an address, which is a multiple of 16; see `program.Encode`.

    Raises:
        CUDAError: the driver refuses it.
    """
    return ctypes.string_at(_anew(tensor_map, address).getPtr(), TENSOR_MAP_BYTES)


def encoder(tensor_map: TensorMap, memory: int, context: AbstractContextManager[None]) -> Callable[[int], None]:
    """What encodes a map to host memory at a multiple of 64, for a tensor at the address that it is given.

    Once encoded, the map gets another address where it lies: no bytes are copied, and no sizes converted. The driver
    does that once. If it changed nothing but the first word, to the address, this writes the next ones by itself.

    Args:
        tensor_map, memory: the map, and where it is encoded to.
        context: makes a CUDA context the current one for a while. The driver encodes nothing in a thread without one,
            such as that of PyTorch's backward passes before anything else has run there.

    Raises:
        CUDAError: what it returns raises it where the driver refuses an address.
    """
    encoded, word, held, plain = driver.CUtensorMap(_ptr=memory), ctypes.c_uint64.from_address(memory), -1, False

    def move(address: int) -> None:
        nonlocal held, plain
        if plain:
            word.value = address
        elif held < 0:
            with context:
                ctypes.memmove(memory, encode(tensor_map, address), TENSOR_MAP_BYTES)
        elif address != held:
            rest = ctypes.string_at(memory + _ADDRESS_BYTES, TENSOR_MAP_BYTES - _ADDRESS_BYTES)
            if driver.cuTensorMapReplaceAddress(encoded, address)[0]:
                with context:
                    handle_return(driver.cuTensorMapReplaceAddress(encoded, address))
            moved = address.to_bytes(_ADDRESS_BYTES, sys.byteorder) + rest
            plain = ctypes.string_at(memory, TENSOR_MAP_BYTES) == moved
        held = address

    return move


def _anew(tensor_map: TensorMap, address: int) -> Any:
    dtype, rank = DType(tensor_map.dtype), len(tensor_map.shape)
    apart = [driver.cuuint64_t(stride * dtype.bytes) for stride in reversed(tensor_map.strides[:-1])]
    sizes = [driver.cuuint64_t(size) for size in reversed(tensor_map.shape)]
    tensor = (type_of(tensor_map), rank, address, sizes, apart or [driver.cuuint64_t(_UNUSED_STRIDE)])
    rest = (
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        SWIZZLES[tensor_map.swizzle],
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if (pixels := tensor_map.im2col) is not None:
        corners = list(reversed(pixels.lower)), list(reversed(pixels.upper))
        steps = [driver.cuuint32_t(step) for step in (1, *reversed(pixels.steps), 1)]
        count, channels = tensor_map.box
        return handle_return(driver.cuTensorMapEncodeIm2col(*tensor, *corners, channels, count, steps, *rest))
    box = [driver.cuuint32_t(size) for size in reversed(tensor_map.box)]
    steps = [driver.cuuint32_t(1)] * rank
    return handle_return(driver.cuTensorMapEncodeTiled(*tensor, box, steps, *rest))
