"""What an attention with cached keys computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from autotune.codegen.attention.attention.inputs import exact_inputs, random_inputs
from autotune.codegen.attention.attention.weighted_values import Buffers
from autotune.codegen.attention.cache import SCALED, Cache, Scales
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.indices import Spread
from autotune.codegen.model.integers import ceil_div, largest, smallest
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Work

from .requests import CachedRequests

# Whose schedule serves any number of requests: a few, whose keys are cut into some parts, with room for many keys.
_REQUESTS, _KEYS = 8, 16384
_SHORT = 16  # of one long request among short ones, these have so much fewer keys
# The lengths that `inputs(0)` draws first, as parts of what there is room for.
_DRAWN_OF = 10000
_DRAWN: Sequence[int] = (8506, 6370, 5111, 2698, 3078, 410, 752, 165, 1753, 8133, 6494, 9128, 5036, 6066, 9707, 7295)


@dataclass(frozen=True)
class AttentionDecodeProblem(CachedRequests):
    """The same for the queries of `batch` requests, request i with the first lengths[i] of its keys and values.

    These are in a cache. Key j of request i is in place j % page of page table[i, j // page]; without pages, in place j
    of row i. The last query of a request meets its last key.

    Source: Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, 2023; Dao et
    al., Flash-Decoding for long-context inference, 2023.
    """

    @property
    def served_as(self) -> Self | None:
        """See `Problem.served_as`."""
        return replace(self, batch=_REQUESTS, keys=_KEYS, pages=0) if self.batch_invariant else None

    @property
    def work(self) -> Work:
        """See `work_of`; keys that some query of ``inputs(0)`` sees are read once for each request, but no
        more than there are."""
        return self._work_by([(1, length) for length in self._lengths(self._where(0))])

    @property
    def usual_work(self) -> Work:
        """See `Problem.usual_work`."""
        return self._work_by(self.usual_lengths)

    @property
    def usual_lengths(self) -> list[tuple[int, int]]:
        """How many requests have how many keys, as a formula of sizes: those of the first few of ``inputs(0)``, and as
        many others of each of these lengths.
        """
        if self.full or self.spread is Spread.EVEN:
            return [(self.batch, self.keys)]
        room, others, parts = self.keys, self.batch, _DRAWN
        if self.spread is Spread.LONG:
            room, others, parts = self.keys // _SHORT, largest(0, self.batch - 1), _DRAWN[1:]
        few = [
            ((others + len(parts) - 1 - place) // len(parts), (room + 1) * part // _DRAWN_OF)
            for place, part in enumerate(parts)
        ]
        return few if self.spread is Spread.RANDOM else [(self.batch - others, self.keys), *few]

    def _work_by(self, lengths: Sequence[tuple[int, int]]) -> Work:
        """Of requests of which so many have so many keys."""
        seen = sum(count * self.reached(length) for count, length in lengths)
        pairs = sum(count * self.band.pairs(self.queries, length) for count, length in lengths)
        of_key = self.kv_heads * self.key_bytes
        cached = smallest(seen * of_key, sum(map(self.bytes_of, self.cached_operands)))
        if self.quantised:
            cached += min(seen * self.kv_heads * len(SCALED) * DType.FLOAT32.bytes, sum(map(self.bytes_of, SCALED)))
        entries = sum(count * ceil_div(length, self.page) for count, length in lengths) if self.page else 0
        stated = 0 if self.full else self.batch
        read = cached + self.bytes_of("q") + self.sink_bytes + DType.INT32.bytes * (stated + entries)
        return self.work_of(self.heads * pairs, read if seen else 0)

    def reached(self, length: int) -> int:
        """Keys of so many that some query of a request sees."""
        return self.band.reached(self.queries, length) if self.heads else 0

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
            lengths[...] = self.keys if self.spread is Spread.EVEN else lengths // _SHORT
            lengths[:1] = self.keys
        stated = {} if self.full else {"lengths": lengths}
        if not self.page:
            return stated
        all_columns, pages = self.batch * self.columns, max(1, self.all_pages)
        table = np.resize(random.permutation(pages), all_columns)  # a few are shared if there are fewer
        return stated | {"table": table.astype(np.int32)}

    def _tensor(self, name: str) -> Tensor:
        return next(one for one in self.tensors if one.name == name)

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
