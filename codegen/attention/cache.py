"""What a cache of keys and values holds: numbers, or codes, which scales make numbers of."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes

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

    def scale_of(self, numbers: Array) -> Array:
        """The scale of each row by which its largest number becomes the largest code, of float32."""
        sizes = np.abs(numbers.astype(np.float32))
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
