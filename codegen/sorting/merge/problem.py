"""What to merge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, size
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.stable_order import stable_order
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.sorting.inputs import DTYPES, Entropy, compared, numbered, random_keys
from autotune.codegen.sorting.values import Values


@dataclass(frozen=True)
class MergeProblem(Problem):
    """The keys of two sorted arrays in order; those of the first array precede equal keys of the second one.

    -0 and 0 are equal, and so are all NaN, which are larger than all numbers. So there is one right order.

    Attributes:
        first, second: keys of `a` and of `b`.
        dtype: of the keys.
        values: what goes along with each key: nothing, or an array's element of as many bytes.
        descending: whether the arrays begin with their largest keys.
        entropy: of each bit of the keys.
    """

    first: int = size(1 << 23, most=None)
    second: int = size(1 << 23, most=None)
    dtype: DType = kind(DType.UINT32, allowed=DTYPES)
    values: Values = kind(Values.NONE, allowed=[one for one in Values if not one.is_index])
    descending: bool = kind(False, codes=("", "descending"))
    entropy: Entropy = data(Entropy.FULL)

    @property
    def columns(self) -> int:
        """Keys of both arrays."""
        return self.first + self.second

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``a``, ``b`` and ``keys_out``, and where there are such, ``a_values``, ``b_values`` and ``values_out``."""
        sizes = {"a": self.first, "b": self.second}
        keys = [self._of_keys(name, count, Role.INPUT) for name, count in sizes.items()]
        keys.append(self._of_keys("keys_out", self.columns, Role.OUTPUT))
        if not self.values.is_array:
            return tuple(keys)
        values = [self._of_values(f"{name}_values", count, Role.INPUT) for name, count in sizes.items()]
        return (*keys, *values, self._of_values("values_out", self.columns, Role.OUTPUT))

    def _of_keys(self, name: str, count: int, role: Role) -> Tensor:
        return Tensor.flat(name, self.dtype, count, role, self.dtype.bytes)

    def _of_values(self, name: str, count: int, role: Role) -> Tensor:
        shape = (count, *([self.values.words] if self.values.words > 1 else []))
        return Tensor(name, self.values.dtype, shape, row_major(shape), role, self.values.bytes)

    def inputs(self, seed: int) -> dict[str, Array]:
        """Sorted keys of which some are equal and some are special; values by which equal keys can be told apart."""
        random = np.random.default_rng(seed)
        keys, words = random_keys(random, self.columns, self.dtype, self.entropy), self.values.words
        found = {}
        for name, some in (("a", keys[: self.first]), ("b", keys[self.first :])):
            found[name] = self._in_order(some)
        if self.values.is_array:
            values = numbered(random, self.columns * words, self.values.dtype)
            found |= {"a_values": values[: self.first * words], "b_values": values[self.first * words :]}
        return found

    def _in_order(self, keys: Array) -> Array:
        """Sorted keys; NumPy knows no order of bfloat16's NaN, and is slower to sort by numbers that stand for keys."""
        if self.dtype is DType.BFLOAT16:
            return keys[stable_order(compared(keys, self.dtype, self.descending))]
        ascending: Array = np.sort(keys)
        return np.ascontiguousarray(ascending[::-1]) if self.descending else ascending

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """By NumPy's stable argsort of both arrays' keys as unsigned numbers in their order."""
        keys = np.concatenate([inputs["a"], inputs["b"]])
        order = stable_order(compared(keys, self.dtype, self.descending))
        found = {"keys_out": keys[order]}
        if self.values.is_array:
            values = np.concatenate([inputs["a_values"], inputs["b_values"]])
            found["values_out"] = values.reshape(self.columns, self.values.words)[order].reshape(-1)
        return found
