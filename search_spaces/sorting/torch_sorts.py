"""What the sorts of PyTorch lack."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType

LACKING = (DType.UINT16, DType.UINT32, DType.UINT64)  # dtypes of keys
