"""What an append to a cache of keys and values does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from autotune.codegen.attention.cache import SCALE_AXES, SCALED, Cache, CacheProblem, Scales
from autotune.codegen.attention.problem import DTYPES, MOST_DIM
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.indices import Indices, Order
from autotune.codegen.model.integers import INT_MAX, ceil_div, widest_divisor
from autotune.codegen.model.operand_layout import OperandLayout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Unit, Work

SLOT_DTYPES = (DType.INT32, DType.INT64)
_LEFT_OUT_EVERY = 8  # one in so many tokens may have no slot, of those that are drawn


class Where(StrEnum):
    """What says where tokens go."""

    SLOTS = "slots"  # of each token
    ROWS = "rows"  # behind the keys that its request has: in the request's own page of the caches
    TABLE = "table"  # likewise, in pages of a table


@dataclass(frozen=True)
class KvAppendProblem(CacheProblem):
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

    Attributes:
        tokens: of k and v.
        heads: of each token.
        pages: of the caches.
        page: slots of a page.
        head_dim: elements of a head of k.
        value_dim: elements of a head of v; 0 stands for `head_dim`.
        dtype: of the elements of k and v.
        cache: what elements of the caches are.
        scales: what has scales of its own in caches of codes.
        slot_dtype: of the numbers of slots.
        where: what says where tokens go.
        requests: that tokens belong to; 0 of slots.
        columns: of the table.
        rotary_dim: elements of a head that are rotated, an even number; 0: none are.
        interleaved: whether the elements of a pair are neighbours, rather than half of `rotary_dim` apart.
        table_rows: positions that there are cosines and sines for.
        heads_q: heads of q of each token, which are rotated as those of k are.
    """

    caches = ("keys", "values")

    operands = {  # noqa: RUF012
        "k": Axes("tgd"),
        "v": Axes("tge"),
        "keys": Axes("psgd"),
        "values": Axes("psge"),
        "kscale": SCALE_AXES,
        "vscale": SCALE_AXES,
        "q": Axes("thd"),
    }

    tokens: int = size(256, short="t")
    heads: int = size(8, short="h")
    pages: int = size(4096, least=1)
    page: int = size(16, least=1)
    head_dim: int = kind(128, least=1, most=MOST_DIM, short="d")
    value_dim: int = kind(0, least=0, most=MOST_DIM, short="e", implied=0)
    dtype: DType = kind(DType.BFLOAT16, allowed=DTYPES)
    slot_dtype: DType = kind(DType.INT32, allowed=SLOT_DTYPES)
    cache: Cache = kind(Cache.PLAIN, implied=Cache.PLAIN)
    scales: Scales = kind(Scales.TENSOR, implied=Scales.TENSOR)
    where: Where = kind(Where.SLOTS, implied=Where.SLOTS)
    requests: int = size(0, implied=0, short="r")
    columns: int = size(0, implied=0, short="c")
    rotary_dim: int = kind(0, least=0, most=MOST_DIM, short="rotary", implied=0)
    interleaved: bool = kind(False, codes=("", "interleaved"))
    table_rows: int = size(0, implied=0, short="rows")
    heads_q: int = size(0, implied=0, short="hq")

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """No more slots than there may be, and no more tokens than slots; a table where heads are rotated."""
        fitted = super().fitted(fields)
        pages = min(fitted["pages"], INT_MAX // fitted["page"])
        tokens = min(fitted["tokens"], pages * fitted["page"])
        rotary = min(fitted["rotary_dim"], fitted["head_dim"]) // 2 * 2
        heads_q = fitted["heads_q"] if rotary else 0
        most = INT_MAX // (2 * max(1, tokens))
        fitted |= {"heads": min(fitted["heads"], most), "heads_q": min(heads_q, most), "rotary_dim": rotary}
        fitted |= {"interleaved": rotary > 0 and fitted["interleaved"]}
        requests = columns = 0
        if fitted["where"] is not Where.SLOTS:
            requests = max(1, min(fitted["requests"], tokens, pages))
            tokens -= tokens % requests
            fitted |= {"slot_dtype": DType.INT32}
        if fitted["where"] is Where.TABLE:
            columns = max(1, min(fitted["columns"], pages // requests))
        rows = max(1, fitted["table_rows"]) if rotary else 0
        return fitted | {"tokens": tokens, "pages": pages, "requests": requests, "columns": columns, "table_rows": rows}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slot_count > INT_MAX:
            raise ValueError(f"pages={self.pages}, page={self.page}: expected {INT_MAX} slots at most")
        if self.tokens * (2 * self.heads + self.heads_q) > INT_MAX:
            raise ValueError(
                f"tokens={self.tokens}, heads={self.heads}, heads_q={self.heads_q}: expected {INT_MAX} heads at most"
            )
        if self.rotary_dim % 2 or self.rotary_dim > self.head_dim:
            raise ValueError(f"rotary_dim={self.rotary_dim}: expected an even number of {self.head_dim} elements")
        rotates = self.rotary_dim > 0
        if rotates != (self.table_rows > 0) or (not rotates and (self.heads_q or self.interleaved)):
            raise ValueError(f"table_rows={self.table_rows}: expected some, and heads_q, where heads are rotated alone")
        unequal = self.tokens % self.requests if self.requests else self.tokens and self.where is not Where.SLOTS
        if unequal or (self.requests and self.where is Where.SLOTS):
            raise ValueError(f"tokens={self.tokens}, requests={self.requests}: expected as many of each request")
        if (self.where is Where.TABLE) != (self.columns > 0) or self.columns * self.page > INT_MAX:
            raise ValueError(f"columns={self.columns}: expected some of a table, of {INT_MAX} places at most")
        if self.value_dim == self.head_dim:
            object.__setattr__(self, "value_dim", 0)

    @property
    def slot_count(self) -> int:
        """Of all pages."""
        return self.pages * self.page

    @property
    def fresh(self) -> int:
        """Tokens of each request."""
        return self.tokens // max(1, self.requests)

    @property
    def room(self) -> int:
        """Keys that a request has room for."""
        return self.page * (self.columns or 1)

    @property
    def value_elements(self) -> int:
        """Elements of a head of v."""
        return self.value_dim or self.head_dim

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {
            "t": self.tokens,
            "p": self.pages,
            "s": self.page,
            "g": self.heads,
            "d": self.head_dim,
            "e": self.value_elements,
            "h": self.heads_q,
            **self.scales.extents(self.pages, self.page, self.heads),
        }

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """See `Problem.layouts`; that of q where there is one."""
        return {name: one for name, one in super().layouts.items() if self.heads_q or name != "q"}

    @property
    def widest(self) -> int:
        """Elements of the widest accesses that heads are aligned for, and are whole ones; so is what is rotated."""
        aligned = min(stated.vector_width for name, stated in self.layouts.items() if name not in SCALED)
        rotated = self.rotary_dim if self.interleaved else self.rotary_dim // 2
        return widest_divisor(aligned, self.head_dim, self.value_elements, rotated)

    @property
    def by_head(self) -> bool:
        """Whether what is stored of an element follows from others of its head."""
        return self.rotary_dim > 0 or self.scales is Scales.TOKEN

    @property
    def empty(self) -> bool:
        """Whether nothing is appended, and nothing rotated."""
        return not self.tokens * (self.heads + self.heads_q)

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

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``k``, ``v``, where they go, and the caches ``keys`` and ``values``, which are updated; of codes also
        ``kscale`` and ``vscale``, which are updated if tokens have scales; if heads are rotated also the ``turns``,
        ``positions`` beside slots, and ``q``, which is updated."""
        role = Role.IN_OUT if self.scales is Scales.TOKEN else Role.INPUT
        return (
            self.tensor("k", Role.INPUT),
            self.tensor("v", Role.INPUT),
            *self._indices,
            self.tensor("keys", Role.IN_OUT),
            self.tensor("values", Role.IN_OUT),
            *(self.tensor(name, role) for name in SCALED if self.quantised),
            *self._rotating,
        )

    @property
    def given_positions(self) -> bool:
        """Whether the place of a token does not follow from its request's length."""
        return self.rotary_dim > 0 and self.where is Where.SLOTS

    @property
    def _rotating(self) -> Iterator[Tensor]:
        if self.rotary_dim:
            shape, align = (self.table_rows, self.rotary_dim), DType.FLOAT32.bytes
            yield Tensor("turns", DType.FLOAT32, shape, row_major(shape), Role.INPUT, align)
        if self.given_positions:
            dtype, indices = self.slot_dtype, Indices(self.table_rows - 1)
            yield Tensor.flat("positions", dtype, self.tokens, Role.INPUT, dtype.bytes, indices=indices)
        if self.heads_q:
            yield self.tensor("q", Role.IN_OUT)

    @property
    def _indices(self) -> tuple[Tensor, ...]:
        dtype = self.slot_dtype
        if self.where is Where.SLOTS:
            left_out = max(self.tokens // _LEFT_OUT_EVERY, self.tokens - self.slot_count)
            indices = Indices(self.slot_count - 1, -left_out, Order.DISTINCT)
            return (Tensor.flat("slots", dtype, self.tokens, Role.INPUT, dtype.bytes, indices=indices),)
        lengths = Tensor.flat(
            "lengths", DType.INT32, self.requests, Role.INPUT, DType.INT32.bytes, indices=Indices(self.room)
        )
        if self.where is Where.ROWS:
            return (lengths,)
        shape, pages = (self.requests, self.columns), Indices(self.pages - 1, -1)
        align = DType.INT32.bytes
        return lengths, Tensor("table", DType.INT32, shape, row_major(shape), Role.INPUT, align, indices=pages)

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
