"""What sources state of keys and of what goes along with them."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType

UNSIGNED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "uint4"}  # by bytes
_MANTISSA_BITS = {DType.FLOAT16: 10, DType.BFLOAT16: 7, DType.FLOAT32: 23, DType.FLOAT64: 52}


def key_types(dtype: DType) -> list[str]:
    """Lines that declare the bits of a key, and the numbers in whose order they are."""
    return [f"using Bits = {UNSIGNED[dtype.bytes]};", f"using Ordered = {UNSIGNED[max(4, dtype.bytes)]};"]


def key_facts(dtype: DType) -> dict[str, int]:
    """What `keys.cuh` knows of their format."""
    return {"key_bits": dtype.bits, "mantissa_bits": _MANTISSA_BITS.get(dtype, 0)}


def key_conditions(dtype: DType) -> dict[str, bool]:
    """What conditions in `keys.cuh` name."""
    return {"floating": dtype.is_float, "signed_keys": dtype.startswith("int")}
