"""Seed and offset of random numbers: by value, and in device memory, where a captured graph reads them anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .argument import Argument
from .dtype import DType
from .problem import Array
from .tensor import Role, Tensor

RANDOM_SCALARS = ("seed", "offset")
STATE = "state"
_LARGEST = 2**64


@dataclass(frozen=True)
class RandomState:
    """The random state of a problem: numbers are words of Philox4x32-10, with the counter (…, offset) and the key seed.

    Attributes:
        pairs: of seed and offset in device memory, which are added to those by value: none, one, or one for each row.
    """

    pairs: int = 0

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The pairs in device memory, if there are any."""
        if not self.pairs:
            return ()
        return (Tensor.flat(STATE, DType.UINT64, 2 * self.pairs, Role.INPUT, DType.UINT64.bytes),)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Seed and offset by value."""
        return tuple(Argument(name, "unsigned long long") for name in RANDOM_SCALARS)

    @property
    def bytes(self) -> int:
        """Bytes of the pairs."""
        return sum(tensor.bytes for tensor in self.tensors)

    @property
    def scalars(self) -> Mapping[str, int]:
        """Seed and offset to verify with, of more than 32 bits."""
        return dict(zip(RANDOM_SCALARS, (0x1234_5678_9ABC_DEF0, 0xFEDC_BA98_7654_3210), strict=True))

    def inputs(self, random: np.random.Generator) -> dict[str, Array]:
        """Pairs of more than 32 bits."""
        return {one.name: random.integers(2**62, _LARGEST, one.size, np.uint64) for one in self.tensors}

    def resolved(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> list[tuple[int, int]]:
        """Seed and offset: one pair, or one for each of `pairs`."""
        seed, offset = (int(scalars[name]) for name in RANDOM_SCALARS)
        added: npt.NDArray[np.uint64] = inputs[STATE].reshape(-1, 2) if self.pairs else np.zeros((1, 2), np.uint64)
        return [((seed + int(first)) % _LARGEST, (offset + int(second)) % _LARGEST) for first, second in added]
