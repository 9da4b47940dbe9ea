"""Sequences packed one behind the other: what attention of them and its gradients have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind
from autotune.codegen.model.indices import Indices, Order, Spread
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor

from .problem import HeadProblem, Places


@dataclass(frozen=True)
class PackedProblem(HeadProblem):
    """`batch` sequences: sequence i has the queries from offsets[i] to offsets[i + 1] - 1.

    It has the keys of the same numbers, or those that offsets of keys bound. Tensors have no axis b. Windows are of a
    sequence. No other sequence has a part in a row, not even by a NaN.

    Attributes:
        queries, keys: of all sequences.
        batch: sequences.
        cross: whether sequences have offsets of their keys apart from those of their queries.
        spread: how long sequences are.
    """

    segmented: ClassVar[bool] = True
    own_diagonals: ClassVar[bool] = True

    cross: bool = kind(False, codes=("", "cross"))
    spread: Spread = data(Spread.RANDOM)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """As many keys as queries, unless they have offsets of their own."""
        fitted = super().fitted(fields)
        keys = fitted["keys"] if fitted["cross"] else fitted["queries"]
        return fitted | {"keys": keys, "batch": max(1, fitted["batch"])}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.cross and self.keys != self.queries:
            raise ValueError(f"keys={self.keys}: expected the {self.queries} queries, without cross")
        if not self.batch:
            raise ValueError("batch=0: expected one sequence or more")

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {**super().extents, "b": 1}

    @property
    def all_heads(self) -> int:
        """Heads of q."""
        return self.heads

    @property
    def pairs(self) -> int:
        """Pairs of a query and a key that it sees, of a head, of the sequences of ``inputs(0)``."""
        return sum(self.band.pairs(len(queries), len(keys)) for queries, keys in self._sequences(self.offsets(0)))

    @property
    def usual_pairs(self) -> int:
        """See `HeadProblem.usual_pairs`."""
        if self.spread is not Spread.LONG or self.batch == 1:
            return self._pairs_of(self.queries, self.keys, self.batch)
        long = self.queries // 2, self.keys // 2
        others = self.queries - long[0], self.keys - long[1]
        return self.band.pairs(*long) + self._pairs_of(*others, self.batch - 1)

    def _pairs_of(self, queries: int, keys: int, sequences: int) -> int:
        """Of sequences that have so many together: of random bounds, one half has the less the more there are, so that
        the mean of squares is about theirs. Keys with offsets of their own are as many in long sequences as in short
        ones."""
        even = queries // sequences, keys // sequences
        if self.cross or self.spread is Spread.EVEN:
            return sequences * self.band.pairs(*even)
        short = even[0] // sequences, even[1] // sequences
        long = 2 * even[0] - short[0], 2 * even[1] - short[1]
        return sequences * (self.band.pairs(*short) + self.band.pairs(*long)) // 2

    def row_tiles(self, rows: int, packed: int = 1) -> int:
        """See `HeadProblem.row_tiles`: as many as there may be, since each sequence begins one."""
        return (self.queries // (rows // packed) + min(self.batch, self.queries)) * (self.heads // packed)

    def key_tiles(self, rows: int) -> int:
        """Likewise of so many keys, of all heads of k and v."""
        return (self.keys // rows + min(self.batch, self.keys)) * self.kv_heads

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Those of one batch, ``offsets`` and, with `cross`, ``offsets_k``, of type int32."""
        return (*map(_of_one_batch, self.batched_tensors), *self._bounds)

    @property
    def _bounds(self) -> Iterator[Tensor]:
        for name, most in (("offsets", self.queries), ("offsets_k", self.keys)):
            if name == "offsets" or self.cross:
                indices = Indices(most, order=Order.BOUNDS)
                yield Tensor.flat(name, DType.INT32, self.batch + 1, Role.INPUT, 4, indices=indices)

    def offsets(self, seed: int) -> dict[str, Array]:
        """See `HeadProblem.offsets`."""
        random = np.random.default_rng(seed)
        return {
            one.name: one.indices.drawn(random, self.batch + 1, np.int32, self.spread)
            for one in self._bounds
            if one.indices
        }

    def _sequences(self, offsets: Mapping[str, Array]) -> Iterator[tuple[range, range]]:
        """The queries and the keys of each sequence."""
        of_queries = offsets["offsets"].tolist()
        of_keys = offsets["offsets_k"].tolist() if self.cross else of_queries
        for queries, keys in zip(pairwise(of_queries), pairwise(of_keys), strict=True):
            yield range(*queries), range(*keys)

    def seen(self, inputs: Mapping[str, Array]) -> Callable[[int, Array], Array]:
        """See `HeadProblem.seen`."""
        sequences = [*self._sequences(inputs)]
        return lambda _, places: self._seen_of_all(sequences, places)

    def placed(self, inputs: Mapping[str, Array]) -> Callable[[int, int, Array, Array], Places]:
        """See `HeadProblem.placed`: those within the query's and the key's sequence."""
        of_queries, of_keys = zip(*self._sequences(inputs), strict=True)
        sequences, q = _numbered(of_queries, self.queries)
        _, k = _numbered(of_keys, self.keys)
        return lambda _, head, queries, keys: {
            "batch": sequences[queries][:, None],
            "head": head,
            "q": q[queries][:, None],
            "k": k[keys],
        }

    def seen_counts(self, inputs: Mapping[str, Array]) -> Array:
        """See `HeadProblem.seen_counts`."""
        lengths = ((len(queries), len(keys)) for queries, keys in self._sequences(inputs))
        return np.concatenate([self.band.counts(*of) for of in lengths])

    def _seen_of_all(self, sequences: list[tuple[range, range]], places: Array) -> Array:
        seen = np.zeros((places.size, self.keys), bool)
        for queries, keys in sequences:
            own = np.flatnonzero((places >= queries.start) & (places < queries.stop))
            of_sequence = self.band.seen(places[own] - queries.start, len(queries), len(keys))
            seen[own, keys.start : keys.stop] = of_sequence
        return seen


def _numbered(sequences: Sequence[range], rows: int) -> tuple[Array, Array]:
    """Of each row, the number of its sequence, and its own within that; 0 of rows behind all sequences."""
    numbers, own = np.zeros((2, rows), np.int64)
    for number, one in enumerate(sequences):
        numbers[one.start : one.stop] = number
        own[one.start : one.stop] = np.arange(len(one))
    return numbers, own


def _of_one_batch(tensor: Tensor) -> Tensor:
    """Without its axis b, of one element, if it has one."""
    if len(tensor.shape) == 1:
        return tensor
    rows = max(0, tensor.row_axes - 1)
    return replace(tensor, shape=tensor.shape[1:], strides=tensor.strides[1:], row_axes=rows)
