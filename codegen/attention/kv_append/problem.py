"""What an append to a cache of keys and values does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from autotune.codegen.attention.cache import SCALED, Scales
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Tensor
from autotune.codegen.model.work import Unit, Work

from .tensors import KvAppendTensors, Where


@dataclass(frozen=True)
class KvAppendProblem(KvAppendTensors):
    """Token i of k and v goes to slot slots[i] of the caches; other slots stay as they are.

    Slot n is place n % page of page n // page. A token whose slot is negative, or behind the last one, goes nowhere.
    Without slots, requests have as many new tokens each, one request's ahead of the next one's. They go behind the
    lengths[r] keys that request r has: key j is in place j % page of page table[r, j // page], or of page r without a
    table. A token for which there is no such page goes nowhere.
    In caches of codes, a number becomes the code next to it divided by its scale: of the tensor or the head, or of
    each head of a token, by which the largest number becomes the largest code.
    Heads of k, and of q in place, may be rotated first, as by `RopeProblem`, and are rounded to their dtype: by row p
    of a table of the cosines and sines of all pairs, where p is the token's place among its request's keys, or is given
    beside its slot. A place that the table lacks is taken for the nearest that it has.

    Source: Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, 2023; Su et
    al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021.
    """

    @property
    def work(self) -> Work:
        """k, v and q are read once and stored once, slots or pages are read, and scales are read or stored."""
        read = self.bytes_of("k") + self.bytes_of("v")
        stored = read // self.dtype.bytes * self.dtype_of("keys").bytes
        scales = 0
        if self.quantised:
            of_token = len(SCALED) * DType.FLOAT32.bytes * self.tokens * self.heads
            scales = of_token if self.scales is Scales.TOKEN else sum(map(self.bytes_of, SCALED))
        if self.where is Where.SLOTS:
            where = self.tokens * self.slot_dtype.bytes
        else:
            pages = ceil_div(self.fresh, self.page) if self.columns else 0
            where = self.requests * (1 + pages) * DType.INT32.bytes
        rotated = 2 * self.bytes_of("q") if self.heads_q else 0
        turns = min(self.tokens, self.table_rows) * self.rotary_dim * DType.FLOAT32.bytes
        positions = self.tokens * self.slot_dtype.bytes if self.given_positions else 0
        pairs = self.tokens * (self.heads + self.heads_q) * self.rotary_dim // 2
        return Work(read + stored + scales + where + rotated + turns + positions, {Unit.FP32: 6 * pairs})

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers; slots in any order, of which a few are negative; pages that no requests share."""
        random = np.random.default_rng(seed)
        made = {}
        for one in self.tensors:
            if one.name in SCALED:
                made[one.name] = self.scales.drawn(self.cache, random, one.size)
            elif one.name == "table":
                made[one.name] = np.full(one.size, -1, np.int32)
                pages = random.permutation(self.pages)[: one.size]
                made[one.name][random.permutation(one.size)[: pages.size]] = pages
            elif one.indices:
                made[one.name] = one.indices.drawn(random, one.size, one.dtype.numpy)
            else:
                made[one.name] = repeated(partial(_normal, random, one), one.size)
        return made

    def why_misleading(self, indices: Mapping[str, Array]) -> str:
        """See `Problem.why_misleading`; any negative number leaves a token out."""
        slots = self._slots(indices)
        for request, length in enumerate(indices["lengths"].tolist() if self.requests else []):
            if not 0 <= length <= self.room - self.fresh:
                return f"lengths: request {request} has {length} keys: expected 0 … {self.room - self.fresh}"
        wrong = np.flatnonzero(slots >= self.slot_count)
        if wrong.size:
            token = wrong[0]
            return f"slots: token {token} has slot {slots[token]}: expected {self.slot_count - 1} or less"
        if self.given_positions:
            positions = indices["positions"]
            behind = np.flatnonzero((positions < 0) | (positions >= self.table_rows))
            if behind.size:
                token, last = behind[0], self.table_rows - 1
                return f"positions: token {token} has position {positions[token]}: expected 0 … {last}"
        taken, times = np.unique(slots[slots >= 0], return_counts=True)
        if (times > 1).any():
            return f"slots: {times.max()} tokens have slot {taken[times.argmax()]}: expected a slot of its own for each"
        return ""

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """All of both caches, and of scales and q that are updated."""
        views, slots = dict(self.views(inputs)), self._slots(inputs)
        there = np.flatnonzero((slots >= 0) & (slots < self.slot_count))
        where = np.divmod(slots[there], self.page)
        named = {one.name: one for one in self.tensors}
        found = {}
        if self.rotary_dim:
            turns = views["turns"][self._positions(inputs)][:, None]
            views["k"] = self._rotated(views["k"], turns)
        if self.heads_q:
            found["q"] = inputs["q"].copy()
            named["q"].view(found["q"])[...] = self._rotated(views["q"], turns)
        for cache, new in (("keys", "k"), ("values", "v")):
            found[cache] = inputs[cache].copy()
            numbers = views[new][there]
            if self.quantised:
                name = f"{new}scale"
                scale = views[name][0, 0]
                if self.scales is Scales.TOKEN:
                    scale = self.cache.scale_of(numbers, self.dtype)
                    found[name] = inputs[name].copy()
                    named[name].view(found[name])[where] = scale
                numbers = self.cache.codes(numbers, scale)
            named[cache].view(found[cache])[where] = numbers
        return found

    def _positions(self, inputs: Mapping[str, Array]) -> Array:
        """The row of the table of turns for each token."""
        places = inputs["positions"] if self.given_positions else self._places(inputs).ravel()
        rows: Array = np.clip(places, 0, self.table_rows - 1)
        return rows

    def _rotated(self, heads: Array, turns: Array) -> Array:
        """In float32, each product and each sum rounded: so kernels do it, too, and have the same bits."""
        half, step = self.rotary_dim // 2, 2 if self.interleaved else 1
        first = slice(0, self.rotary_dim if self.interleaved else half, step)
        second = slice(1 if self.interleaved else half, self.rotary_dim, step)
        cosines, sines = turns[..., :half], turns[..., half:]
        a, b = (heads[..., part].astype(np.float32) for part in (first, second))
        rotated = heads.copy()
        rotated[..., first], rotated[..., second] = a * cosines - b * sines, a * sines + b * cosines
        return rotated

    def _places(self, inputs: Mapping[str, Array]) -> Array:
        """Of the tokens of each request among its keys."""
        return inputs["lengths"].astype(np.int64)[:, None] + np.arange(self.fresh)

    def _slots(self, inputs: Mapping[str, Array]) -> Array:
        """Of each token; -1 where there is no page."""
        if self.where is Where.SLOTS:
            return inputs["slots"]
        places = self._places(inputs)
        there = (places[:, :1] >= 0) & (places < self.room)
        columns = np.where(there, places, 0) // self.page
        rows = np.arange(self.requests)[:, None]
        pages = rows + columns
        if self.where is Where.TABLE:
            pages = inputs["table"].reshape(self.requests, self.columns)[rows, columns].astype(np.int64)
        there &= (pages >= 0) & (pages < self.pages)
        slots: Array = np.where(there, pages * self.page + places % self.page, -1).ravel()
        return slots


def _normal(random: np.random.Generator, tensor: Tensor, count: int) -> Array:
    return random.standard_normal(count, np.float32).astype(tensor.dtype.numpy)
