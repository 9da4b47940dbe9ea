"""The few calls of cublasLt that a matrix product needs, each checked. Names and values are those of cublasLt.h."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from autotune.devices.base import DeviceError

R_32F, R_16F, R_8I, R_32I, R_16BF, R_8F_E4M3, R_8F_E5M2 = 0, 2, 3, 10, 14, 28, 29  # cudaDataType_t
COMPUTE_32F, COMPUTE_32I, COMPUTE_32F_FAST_TF32 = 68, 72, 77
OUTER_VEC_32F = 3  # cublasLtMatmulMatrixScale_t: a scale for each row or column
ADD_IN_COMPUTE_TYPE = 2  # cublasLtReductionScheme_t: parts along k are added up as the sums are, not as D is
TENSOR_OPERATIONS = 0xFE  # flags of cublasLtNumericalImplFlags_t: whatever is not done by FMAs


class MatmulDesc(IntEnum):
    """Attributes of ``cublasLtMatmulDesc_t``."""

    TRANSA = 3
    TRANSB = 4
    EPILOGUE = 7
    BIAS_POINTER = 8
    EPILOGUE_AUX_POINTER = 11
    EPILOGUE_AUX_LD = 12
    EPILOGUE_AUX_BATCH_STRIDE = 13
    A_SCALE_POINTER = 17
    B_SCALE_POINTER = 18
    FAST_ACCUM = 25
    A_SCALE_MODE = 31
    B_SCALE_MODE = 32


class MatrixLayout(IntEnum):
    """Attributes of ``cublasLtMatrixLayout_t``."""

    BATCH_COUNT = 5
    STRIDED_BATCH_OFFSET = 6


class MatmulPreference(IntEnum):
    """Attributes of ``cublasLtMatmulPreference_t``."""

    MAX_WORKSPACE_BYTES = 1
    REDUCTION_SCHEME_MASK = 3
    MIN_ALIGNMENT_A_BYTES = 5
    MIN_ALIGNMENT_B_BYTES = 6
    MIN_ALIGNMENT_C_BYTES = 7
    MIN_ALIGNMENT_D_BYTES = 8
    IMPL_MASK = 12


class HeuristicResult(ctypes.Structure):
    """``cublasLtMatmulHeuristicResult_t``."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace_bytes", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


class CublasLt:
    """The library.

    Integers wider than an ``int`` and pointers are passed as ctypes values.

    Raises:
        DynamicLibNotFoundError: it is not installed.
    """

    def __init__(self) -> None:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        self._library = ctypes.CDLL(load_nvidia_dynamic_lib("cublasLt").abs_path)
        self._library.cublasLtGetVersion.restype = ctypes.c_size_t
        self._library.cublasLtGetStatusName.restype = ctypes.c_char_p

    @property
    def version(self) -> str:
        """Such as ``13.1.0``."""
        number: int = self._library.cublasLtGetVersion()
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function that returns a ``cublasStatus_t``.

        Raises:
            DeviceError: the call failed; the message has the status.
        """
        status = getattr(self._library, function)(*arguments)
        if status:
            raise DeviceError(f"{function}: {self._library.cublasLtGetStatusName(status).decode()}")

    @contextmanager
    def created(self, kind: str, *arguments: Any) -> Iterator[ctypes.c_void_p]:
        """An object made by ``cublasLt<kind>Create``, as long as the context lasts; kind '' is the library."""
        handle = ctypes.c_void_p()
        self.call(f"cublasLt{kind}Create", ctypes.byref(handle), *arguments)
        try:
            yield handle
        finally:
            getattr(self._library, f"cublasLt{kind}Destroy")(handle)  # unchecked: whatever failed has its own error

    def set(self, handle: ctypes.c_void_p, attribute: IntEnum, value: Any) -> None:
        """Set an attribute of an object of the attribute's kind; the C type of `value` is what cublasLt.h says."""
        function = f"cublasLt{type(attribute).__name__}SetAttribute"
        self.call(function, handle, int(attribute), ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value)))
