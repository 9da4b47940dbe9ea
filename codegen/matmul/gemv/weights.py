"""How W is stored: as numbers, or quantised, as codes that scales and zero points make numbers of."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Tensor

SCALE_DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
GROUP_SIZES = (0, 32, 64, 128)
SYMMETRIC_ZERO = 8  # the zero of a code of 4 bits without zero points
_BLOCK = 128  # rows and columns of W that share a scale of fp8 weights
_NAN = 0x7F  # NaN of float8_e4m3
_SPECIAL_SCALES = 0.05  # share of random scales that are 0 or subnormal
_Array = npt.NDArray[Any]


class Weights(StrEnum):
    """What an element of W is: with a code q, a scale and a zero point, scale · (q - zero)."""

    PLAIN = "plain"  # a number of the type of x
    FP8 = "fp8"  # float8_e4m3
    INT8 = "int8"
    INT4 = "int4"  # 0 to 15, two in a byte along k, the first one in the lower half

    @property
    def packed(self) -> int:
        """Elements of a stored one."""
        return 2 if self is Weights.INT4 else 1

    def stored(self, dtype: DType) -> DType:
        """The type of a stored element, of weights for a problem of a dtype."""
        return {Weights.FP8: DType.FLOAT8_E4M3, Weights.INT8: DType.INT8, Weights.INT4: DType.UINT8}.get(self, dtype)

    def why_not_grouped(self, group_size: int) -> str:
        """Why the terms of a scale may not be so many; empty if they may. 0 stands for a whole row."""
        allowed = {Weights.PLAIN: (0,), Weights.FP8: (0, _BLOCK), Weights.INT4: GROUP_SIZES[1:]}.get(self, GROUP_SIZES)
        return "" if group_size in allowed else f"expected {' or '.join(map(str, allowed))} for weights={self}"

    def scales_shape(self, n: int, k: int, group_size: int) -> tuple[int, int]:
        """Rows and columns of the scales of W."""
        return ceil_div(n, self.scale_rows(group_size)), ceil_div(k, group_size) if group_size else 1

    def scale_rows(self, group_size: int) -> int:
        """Rows of W that share a scale: of fp8 weights in groups, as many as columns."""
        return group_size if self is Weights.FP8 and group_size else 1

    def random(self, random: np.random.Generator, tensors: Mapping[str, Tensor], *, small: bool) -> dict[str, _Array]:
        """Random W, scales and zero points for these tensors: all codes but NaN, which stand for 1 at most.

        Some scales are 0 or subnormal. Or, if `small`, whole numbers that add up without rounding.
        """
        scales = tensors["scales"]

        def scale(count: int) -> _Array:
            if small:
                return random.choice(np.array([-1, 1, 2], np.float32), count)
            special = random.choice(np.array([0, scales.dtype.smallest], np.float32), count)
            drawn = random.random(count, np.float32) / np.float32(_LARGEST[self])
            return np.where(random.random(count) < _SPECIAL_SCALES, special, drawn)

        drawn = {"w": lambda count: self._random_codes(random, count, small), "scales": scale}
        if "zeros" in tensors:
            drawn["zeros"] = lambda count: random.integers(0, 16, count, np.uint8)
        return {
            name: repeated(draw, tensors[name].size).astype(tensors[name].dtype.numpy) for name, draw in drawn.items()
        }

    def _random_codes(self, random: np.random.Generator, count: int, small: bool) -> _Array:
        if self is Weights.FP8:
            numbers = np.array([-3, -2, -1, 1, 2, 3]).astype(DType.FLOAT8_E4M3.numpy)
            codes = np.arange(256, dtype=np.uint8)
            return random.choice(numbers if small else codes[codes % 128 != _NAN].view(numbers.dtype), count)
        if self is Weights.INT8:
            return random.integers(-8 if small else -128, 8 if small else 128, count, np.int8)
        return random.integers(0, 256, count, np.uint8)

    def dequantised(
        self, codes: _Array, scales: _Array, zeros: _Array | None, k: int, group_size: int
    ) -> npt.NDArray[np.float64]:
        """W in float64, of shape (…, n, k), of what is stored."""
        n = codes.shape[-2]
        if self is Weights.INT4:
            codes = np.stack([codes & 15, codes >> 4], axis=-1).reshape(*codes.shape[:-1], -1)[..., :k]

        def of_elements(values: _Array) -> npt.NDArray[np.float64]:
            wide = values.astype(np.float64).repeat(self.scale_rows(group_size), axis=-2)[..., :n, :]
            return wide.repeat(group_size or k, axis=-1)[..., :k]

        zero: Any = 0.0
        if self is Weights.INT4:
            zero = SYMMETRIC_ZERO if zeros is None else of_elements(zeros)
        found: npt.NDArray[np.float64] = of_elements(scales) * (codes.astype(np.float64) - zero)
        return found


_LARGEST = {Weights.FP8: 448, Weights.INT8: 128, Weights.INT4: 15}  # largest codes, zero points subtracted
