"""What to sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, size
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.stable_order import stable_order
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.sorting.inputs import DTYPES, Entropy, compared, numbered, random_keys
from autotune.codegen.sorting.values import Values

_INDICES = (Values.INDEX64, Values.INDEX32)
_WIDE = 1 << 32  # columns from which on a count of keys takes 8 bytes


@dataclass(frozen=True)
class RadixSortProblem(Problem):
    """The keys of each row in ascending or descending order, those that are equal in the order in which they were.

    -0 and 0 are equal, and so are all NaN, which are larger than all numbers. So there is one right order. One row is
    all keys.

    Attributes:
        columns, rows: of the keys.
        dtype: of the keys.
        values: what goes along with each key: nothing, its index in the row, or an array's element of as many bytes.
        descending: whether the largest key is the first one.
        order_only: whether values are written, and no keys.
        begin_bit, end_bit: the bits of integers that they are compared by, from the lowest; 0 stands for all. The sign
            bit, if it is one of them, is set of what comes first.
        entropy: of each bit of the keys.
    """

    columns: int = size(1 << 24, most=None)
    rows: int = size(1, implied=1, most=None)
    dtype: DType = kind(DType.UINT32, allowed=DTYPES)
    values: Values = kind(Values.NONE)
    descending: bool = kind(False, codes=("", "descending"))
    order_only: bool = kind(False, codes=("", "order"))
    begin_bit: int = kind(0, least=0, most=63, implied=0)
    end_bit: int = kind(0, least=0, most=64, implied=0)
    entropy: Entropy = data(Entropy.FULL)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order_only and self.values is Values.NONE:
            raise ValueError("order_only=True, values=keys: expected values to write")
        if self.values is Values.INDEX32 and self.columns > INT_MAX:
            raise ValueError(f"values={self.values}, columns={self.columns}: expected index64 for so many")
        if not self.begin_bit < self.last_bit <= self.dtype.bits:
            raise ValueError(
                f"begin_bit={self.begin_bit}, end_bit={self.last_bit}: expected a range within the {self.dtype.bits} "
                f"bits of {self.dtype}"
            )
        if self.cut and self.dtype.is_float:
            raise ValueError(
                f"begin_bit={self.begin_bit}, end_bit={self.last_bit}: expected all bits of {self.dtype}, which is "
                "compared as a whole"
            )

    @property
    def last_bit(self) -> int:
        """The bit behind those that keys are compared by."""
        return self.end_bit or self.dtype.bits

    @property
    def cut(self) -> bool:
        """Whether keys are compared by some of their bits."""
        return self.last_bit - self.begin_bit < self.dtype.bits

    @property
    def wide(self) -> bool:
        """Whether a count of a row's keys takes 8 bytes."""
        return self.columns >= _WIDE

    @property
    def carried_bytes(self) -> int:
        """Bytes of a value on its way: an index takes no more than a count."""
        return (8 if self.wide else 4) if self.values.is_index else self.values.bytes

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``keys`` and ``keys_out``, and where there are such, ``values`` and ``values_out``."""
        found = [self._of_keys("keys", Role.INPUT)]
        if self.values.is_array:
            found.append(self._of_values("values", Role.INPUT))
        if not self.order_only:
            found.append(self._of_keys("keys_out", Role.OUTPUT))
        if self.values is not Values.NONE:
            found.append(self._of_values("values_out", Role.OUTPUT))
        return tuple(found)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.columns,) if self.rows == 1 else (self.rows, self.columns)

    def _of_keys(self, name: str, role: Role) -> Tensor:
        return Tensor(name, self.dtype, self._shape, row_major(self._shape), role, self.dtype.bytes)

    def _of_values(self, name: str, role: Role) -> Tensor:
        shape = (*self._shape, *([self.values.words] if self.values.words > 1 else []))
        return Tensor(name, self.values.dtype, shape, row_major(shape), role, self.values.bytes)

    def inputs(self, seed: int) -> dict[str, Array]:
        """Keys of which some are equal and some are special; values by which equal keys can be told apart."""
        random, count = np.random.default_rng(seed), self.rows * self.columns
        found = {"keys": random_keys(random, count, self.dtype, self.entropy)}
        if self.values.is_array:
            found["values"] = numbered(random, count * self.values.words, self.values.dtype)
        return found

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """By a stable order of the keys as unsigned numbers that ascend."""
        given = self.views(inputs)
        keys = given["keys"].reshape(self.rows, self.columns)
        numbers = compared(keys, self.dtype, self.descending)
        bits = numbers.dtype.type
        numbers = numbers >> bits(self.begin_bit) & bits((1 << (self.last_bit - self.begin_bit)) - 1)
        order = stable_order(numbers)
        found = {} if self.order_only else {"keys_out": np.take_along_axis(keys, order, 1)}
        if self.values.is_index:
            found["values_out"] = order.astype(self.values.dtype.numpy)
        elif self.values.is_array:
            values = given["values"].reshape(self.rows, self.columns, self.values.words)
            found["values_out"] = np.take_along_axis(values, order[:, :, None], 1)
        return self.buffers(found)


@dataclass(frozen=True)
class SortProblem(RadixSortProblem):
    """The keys of each row in order, and the index that each had.

    Attributes:
        values: the type of the indices.
        begin_bit, end_bit: 0; all bits count.
    """

    values: Values = kind(Values.INDEX64, allowed=_INDICES)
    begin_bit: int = kind(0, allowed=(0,), implied=0)
    end_bit: int = kind(0, allowed=(0,), implied=0)


@dataclass(frozen=True)
class ArgsortProblem(SortProblem):
    """The indices of the keys of each row in the order of the keys.

    Attributes:
        order_only: true.
    """

    order_only: bool = kind(True, allowed=(True,))
