"""What an attention with cached keys computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from autotune.codegen.attention.attention.inputs import exact_inputs, random_inputs
from autotune.codegen.attention.attention.weighted_values import Buffers, WeightedValues
from autotune.codegen.attention.cache import SCALE_AXES, SCALED, Cache, CacheProblem, Scales
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, size
from autotune.codegen.model.indices import Indices, Spread
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.operand_layout import OperandLayout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Work

MOST_QUERIES = 1 << 14  # a chunk of a prompt
MOST_DIM = 576  # elements of a head: the latent keys of DeepSeek's models
# Whose schedule serves any number of requests: a few, whose keys are cut into some parts, with room for many keys.
_REQUESTS, _KEYS = 8, 16384


@dataclass(frozen=True)
class AttentionDecodeProblem(CacheProblem, WeightedValues):
    """The same for the queries of `batch` requests, request i with the first lengths[i] of its keys and values.

    These are in a cache. Key j of request i is in place j % page of page table[i, j // page]; without pages, in place j
    of row i. The last query of a request meets its last key.

    Source: Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, 2023; Dao et
    al., Flash-Decoding for long-context inference, 2023.

    Attributes:
        queries: of each request.
        keys: that a request has room for.
        batch: requests.
        page: places of a page; 0 stands for a cache without pages, of a row of keys for each request.
        pages: of the cache; 0 stands for as many as all requests have room for.
        cache: what its elements are.
        scales: what has scales of its own in a cache of codes.
        batch_invariant: whether a request's results have the same bits in any batch, by a schedule that depends neither
            on the number of requests nor on how many keys they have room for.
        latent: whether the first elements of a key are its value, too, as of DeepSeek's models; v is not there.
        full: whether each request has all keys that it has room for; there are no lengths.
        spread: how many keys requests have: any number, all that there is room for, or one of them all and others few.
    """

    segmented: ClassVar[bool] = False
    own_diagonals: ClassVar[bool] = True
    caches = ("k", "v")
    operands = {  # noqa: RUF012
        "q": Axes("bshd"),
        "k": Axes("ptgd"),
        "v": Axes("ptge"),
        "o": Axes("bshe"),
        "kscale": SCALE_AXES,
        "vscale": SCALE_AXES,
    }

    queries: int = size(1, most=MOST_QUERIES, short="q")
    head_dim: int = kind(64, least=1, most=MOST_DIM, short="d")
    value_dim: int = kind(0, least=0, most=MOST_DIM, short="e", implied=0)
    page: int = kind(0, least=0, most=1 << 20, short="page", implied=0)
    pages: int = size(4096, implied=0, short="pages")
    cache: Cache = kind(Cache.PLAIN, implied=Cache.PLAIN)
    scales: Scales = kind(Scales.TENSOR, implied=Scales.TENSOR)
    batch_invariant: bool = kind(False, codes=("", "invariant"))
    latent: bool = kind(False, codes=("", "latent"))
    full: bool = kind(False, codes=("", "full"))
    spread: Spread = data(Spread.RANDOM)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """No pages of a cache without; latent keys are numbers, of which values are a part."""
        fitted = super().fitted(fields)
        latent = fitted["latent"] and fitted["cache"] is Cache.PLAIN and fitted["value_dim"] <= fitted["head_dim"]
        return fitted | {"pages": fitted["pages"] if fitted["page"] else 0, "latent": latent}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pages and not self.page:
            raise ValueError(f"pages={self.pages}: expected 0 of a cache without pages")
        if self.latent and (self.quantised or self.value_elements > self.head_dim):
            raise ValueError(
                f"latent keys of {self.head_dim} elements in a {self.cache} cache: "
                f"expected numbers, of which the first {self.value_elements} are values"
            )
        if self.pages == self.batch * self.columns:
            object.__setattr__(self, "pages", 0)
        if self.queries == 1 and not self.top_left:  # there is no key behind the diagonal of the last query
            object.__setattr__(self, "causal", False)
            object.__setattr__(self, "window_right", 0)

    @property
    def served_as(self) -> Self | None:
        """See `Problem.served_as`."""
        return replace(self, batch=_REQUESTS, keys=_KEYS, pages=0) if self.batch_invariant else None

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """See `Problem.layouts`; that of v where there is one."""
        return {name: one for name, one in super().layouts.items() if not (self.latent and name == "v")}

    @property
    def widest(self) -> int:
        """See `WeightedValues`."""
        return self.widest_of("q", *self.cached_operands)

    @property
    def cached_operands(self) -> str:
        """Those of `caches` that are there."""
        return "k" if self.latent else "kv"

    @property
    def columns(self) -> int:
        """Pages that a request has room for."""
        return ceil_div(self.keys, self.page) if self.page else 0

    @property
    def all_pages(self) -> int:
        """Pages of the cache; rows of one without."""
        return (self.pages or self.batch * self.columns) if self.page else self.batch

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`; p: pages, t: places of each."""
        pages, places = self.all_pages, self.page or self.keys
        return {**super().extents, "p": pages, "t": places, **self.scales.extents(pages, places, self.kv_heads)}

    @property
    def pairs(self) -> int:
        """Pairs of a query and a key that it sees, of a head of each request of ``inputs(0)``."""
        return sum(self.band.pairs(self.queries, length) for length in self._lengths(self._where(0)))

    @property
    def work(self) -> Work:
        """See `work_of`; keys that some query of ``inputs(0)`` sees are read once for each request, but no
        more than there are."""
        lengths = self._lengths(self._where(0))
        seen = sum(self.seen_keys)
        of_key = self.kv_heads * self.key_bytes
        cached = min(seen * of_key, sum(map(self.bytes_of, self.cached_operands)))
        if self.quantised:
            cached += min(seen * self.kv_heads * len(SCALED) * DType.FLOAT32.bytes, sum(map(self.bytes_of, SCALED)))
        entries = sum(ceil_div(length, self.page) for length in lengths) if self.page else 0
        stated = 0 if self.full else self.batch
        read = cached + self.bytes_of("q") + self.sink_bytes + DType.INT32.bytes * (stated + entries)
        return self.work_of(self.heads * self.pairs, read if seen else 0)

    @property
    def key_bytes(self) -> int:
        """Of a key and its value, of a head, without their scales."""
        values = 0 if self.latent else self.value_elements
        return (self.head_dim + values) * self.dtype_of("k").bytes

    @property
    def seen_keys(self) -> list[int]:
        """Keys of each request of ``inputs(0)`` that some query sees."""
        rows = self.queries * self.heads
        return [self._seen_of(length) if rows else 0 for length in self._lengths(self._where(0))]

    def _seen_of(self, length: int) -> int:
        seen = self.band.seen(np.array([0, self.queries - 1]), self.queries, length)
        places = np.flatnonzero(seen.any(axis=0))
        return int(places[-1] - places[0] + 1) if places.size else 0

    @property
    def batched_tensors(self) -> tuple[Tensor, ...]:
        """See `WeightedValues`; without ``v`` of latent keys."""
        return tuple(one for one in super().batched_tensors if not (self.latent and one.name == "v"))

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Those of `batched_tensors`, of codes ``kscale`` and ``vscale``, then ``lengths`` unless requests are `full`,
        and, of pages, ``table``.
        """
        scales = [self.tensor(name, Role.INPUT) for name in SCALED] if self.quantised else []
        return (*self.batched_tensors, *scales, *self._indices)

    @property
    def _indices(self) -> Iterator[Tensor]:
        if not self.full:
            yield Tensor.flat("lengths", DType.INT32, self.batch, Role.INPUT, 4, indices=Indices(self.keys))
        if self.page:
            shape, indices = (self.batch, self.columns), Indices(max(0, self.all_pages - 1))
            yield Tensor("table", DType.INT32, shape, row_major(shape), Role.INPUT, 4, indices=indices)

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `random_inputs`; places of the cache that no request has are NaN, and pages may be shared."""
        made = random_inputs(self.batched_tensors, seed) | self._where(seed)
        if self.quantised:
            made |= self._codes(np.random.default_rng(seed))
        owned = np.zeros((self.all_pages, self.extents["t"]), bool)
        for request, length in enumerate(self._lengths(made)):
            owned[self._places(made, request, length)] = True
        for name in self.cached_operands:
            self._tensor(name).view(made[name])[~owned] = self.cache.largest if self.cache is Cache.INT8 else np.nan
        if self.scales is Scales.TOKEN:
            for name in SCALED:
                self._tensor(name).view(made[name])[~owned] = np.nan
        return made

    def _codes(self, random: np.random.Generator) -> dict[str, Array]:
        """Scales, and codes of a cache of integers; random floats are codes already."""
        made = {name: self.scales.drawn(self.cache, random, self._tensor(name).size) for name in SCALED}
        if self.cache is Cache.INT8:
            largest = int(self.cache.largest)
            for name in "kv":
                made[name] = repeated(
                    lambda count: random.integers(-largest, largest + 1, count, np.int8), self._tensor(name).size
                )
        return made

    def why_misleading(self, indices: Mapping[str, Array]) -> str:
        """See `Problem.why_misleading`; what a table has behind a request's length leads nowhere."""
        for request, length in enumerate(self._lengths(indices)):
            if not 0 <= length <= self.keys:
                return f"lengths: request {request} has {length} keys: expected 0 … {self.keys}"
            pages = indices["table"][request, : ceil_div(length, self.page)].tolist() if self.page else []
            for column, page in enumerate(pages):
                if not 0 <= page < self.all_pages:
                    last = self.all_pages - 1
                    return f"table: request {request} has page {page} in column {column}: expected 0 … {last}"
        return ""

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Those of attention with as many keys, put into pages of their own; none of codes and latent keys."""
        if self.quantised or self.latent or self.lse or not self.keys or self.all_pages < self.batch * self.columns:
            return None
        named = {tensor.name: tensor for tensor in self.batched_tensors}
        made = exact_inputs(named | self._in_order, seed, plain=not self.softcap)
        if made is None:
            return None
        where = self._where(seed)
        if self.page:
            table = np.random.default_rng(seed).permutation(self.all_pages)[: self.batch * self.columns]
            where["table"] = table.astype(np.int32)
        made |= where
        for name in "kv":
            in_order = self._in_order[name].view(made[name])
            made[name] = np.full(self._tensor(name).size, np.nan, self.dtype.numpy)
            cache = self._tensor(name).view(made[name])
            for request in range(self.batch):
                cache[self._places(made, request, self.keys)] = in_order[request]
        return made

    def _lengths(self, inputs: Buffers) -> list[int]:
        """How many keys each request has."""
        if self.full:
            return [self.keys] * self.batch
        lengths: list[int] = inputs["lengths"].tolist()
        return lengths

    def _where(self, seed: int) -> dict[str, Array]:
        """How many keys each request has, unless they are `full`, and its pages."""
        random = np.random.default_rng(seed)
        lengths = random.integers(0, self.keys + 1, self.batch, np.int32)
        if self.spread is not Spread.RANDOM:
            lengths[...] = self.keys if self.spread is Spread.EVEN else lengths // 16
            lengths[:1] = self.keys
        stated = {} if self.full else {"lengths": lengths}
        if not self.page:
            return stated
        all_columns, pages = self.batch * self.columns, max(1, self.all_pages)
        table = np.resize(random.permutation(pages), all_columns)  # a few are shared if there are fewer
        return stated | {"table": table.astype(np.int32)}

    def _places(self, inputs: Buffers, request: int, length: int) -> tuple[Array, Array]:
        """Page and place of each of the first keys of a request."""
        keys = np.arange(length)
        if not self.page:
            return np.full(length, request), keys
        return inputs["table"].reshape(self.batch, self.columns)[request, keys // self.page], keys % self.page

    def _scales_of(self, name: str, inputs: Buffers) -> Array:
        """Of (pages, places, heads) of the cache k or v."""
        scales = self._tensor(f"{name}scale").view(inputs[f"{name}scale"])[..., 0]
        return np.broadcast_to(scales, (self.all_pages, self.extents["t"], self.kv_heads))

    def _tensor(self, name: str) -> Tensor:
        return next(one for one in self.tensors if one.name == name)

    @property
    def _in_order(self) -> dict[str, Tensor]:
        """k and v with axes of requests, keys, heads and elements; numbers that codes stand for are float64."""
        dtype = DType.FLOAT64 if self.quantised else self.dtype
        dims = {"k": self.head_dim, "v": self.value_elements}
        shapes = {name: (self.batch, self.keys, self.kv_heads, dim) for name, dim in dims.items()}
        return {name: Tensor(name, dtype, shape, row_major(shape), Role.INPUT, 16) for name, shape in shapes.items()}

    def _with_keys_in_order(self, inputs: Buffers) -> tuple[Mapping[str, Tensor], Buffers]:
        tensors = {tensor.name: tensor for tensor in self.batched_tensors} | self._in_order
        buffers = dict(inputs)
        for name in "kv":
            source = "k" if self.latent else name
            cache = self._tensor(source).view(inputs[source])[..., : tensors[name].shape[-1]]
            buffers[name] = np.zeros(tensors[name].size, tensors[name].dtype.numpy)
            in_order = tensors[name].view(buffers[name])
            for request, length in enumerate(self._lengths(inputs)):
                places = self._places(inputs, request, length)
                in_order[request, :length] = cache[places]
                if self.quantised:
                    in_order[request, :length] *= self._scales_of(name, inputs)[places][..., None]
        return tensors, buffers

    def seen(self, inputs: Buffers) -> Callable[[int, Array], Array]:
        """See `HeadProblem.seen`."""
        lengths = self._lengths(inputs)

        def seen(request: int, places: Array) -> Array:
            found = np.zeros((places.size, self.keys), bool)
            found[:, : lengths[request]] = self.band.seen(places, self.queries, lengths[request])
            return found

        return seen
