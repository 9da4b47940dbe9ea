"""What a cache of keys and values holds: numbers, or codes, which scales make numbers of."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.operand_layout import OperandLayout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes, StridedProblem

SCALE_AXES = Axes("uvwx")  # pages, places and heads, as far as scales differ along them; x has one element

SCALED = ("kscale", "vscale")  # what the scales of keys and values are called


class Cache(StrEnum):
    """What an element is: with a code c and a scale, scale · c."""

    PLAIN = "plain"  # a number of the type of q
    FP8 = "fp8"  # float8_e4m3
    INT8 = "int8"

    def stored(self, dtype: DType) -> DType:
        """The type of an element, in a cache for queries of a dtype."""
        return {Cache.FP8: DType.FLOAT8_E4M3, Cache.INT8: DType.INT8}.get(self, dtype)

    @property
    def largest(self) -> float:
        """The largest code that numbers become."""
        return {Cache.FP8: DType.FLOAT8_E4M3.largest, Cache.INT8: 127.0}[self]

    def scale_of(self, numbers: Array, dtype: DType) -> Array:
        """The scale of each row by which its largest number becomes the largest code, of float32.

        An infinite number counts as the largest of the numbers' dtype.
        """
        sizes = np.minimum(np.abs(numbers.astype(np.float32)), np.float32(dtype.largest))
        scales: Array = sizes.max(axis=-1, keepdims=True) / np.float32(self.largest)
        return scales

    def codes(self, numbers: Array, scales: Array) -> Array:
        """Numbers divided by scales that they are broadcast with, as codes."""
        shares = numbers.astype(np.float32) / np.where(scales == 0, np.float32(1), scales)
        if self is Cache.FP8:
            codes: Array = np.clip(shares, -self.largest, self.largest).astype(DType.FLOAT8_E4M3.numpy)
        else:
            codes = np.clip(np.rint(shares), -128, 127).astype(np.int8)
        return codes

    @classmethod
    def of(cls, dtype: DType) -> Cache:
        """The kind whose elements have a dtype."""
        return {DType.FLOAT8_E4M3: cls.FP8, DType.INT8: cls.INT8}.get(dtype, cls.PLAIN)


class Scales(StrEnum):
    """What has a scale of its own, float32 and positive, in the cache of keys and in that of values."""

    TENSOR = "tensor"
    HEAD = "head"
    TOKEN = "token"  # each head of each place of the cache

    def extents(self, pages: int, places: int, heads: int) -> Mapping[str, int]:
        """Of `SCALE_AXES`."""
        token = self is Scales.TOKEN
        return {
            "u": pages if token else 1,
            "v": places if token else 1,
            "w": 1 if self is Scales.TENSOR else heads,
            "x": 1,
        }

    def drawn(self, cache: Cache, random: np.random.Generator, count: int) -> Array:
        """Random scales, by which codes become numbers about as large as normal ones."""
        usual = {Cache.FP8: 1.0, Cache.INT8: 1 / 64}.get(cache, 1.0)
        return (usual * random.uniform(0.5, 1.5, count)).astype(np.float32)


class CacheProblem(StridedProblem):
    """Problems with caches of keys and values, which state as fields what is in them.

    Attributes:
        caches: the operands that are caches.
        dtype: of numbers outside of the caches, and in those of numbers.
        cache: what elements of the caches are.
        scales: what has scales of its own in caches of codes.
    """

    caches: ClassVar[tuple[str, str]]
    dtype: DType
    cache: Cache
    scales: Scales

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """No scales of caches of numbers."""
        fitted = super().fitted(fields)
        return fitted | ({"scales": Scales.TENSOR} if fitted["cache"] is Cache.PLAIN else {})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.quantised and self.scales is not Scales.TENSOR:
            raise ValueError(f"scales={self.scales}: expected tensor of a cache of numbers, which has none")

    @property
    def quantised(self) -> bool:
        """Whether the caches have codes."""
        return self.cache is not Cache.PLAIN

    def dtype_of(self, operand: str) -> DType:
        """See `StridedProblem`; those of caches, and of scales, are others."""
        if operand in SCALED:
            return DType.FLOAT32
        return self.cache.stored(self.dtype) if operand in self.caches else self.dtype

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """See `Problem.layouts`; those of scales where there are such."""
        return {name: one for name, one in super().layouts.items() if self.quantised or name not in SCALED}
