"""What an append to a cache of keys and values takes: its sizes, kinds and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from autotune.codegen.attention.cache import SCALE_AXES, SCALED, Cache, CacheProblem, Scales
from autotune.codegen.attention.problem import DTYPES, MOST_DIM
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.indices import Indices, Order
from autotune.codegen.model.integers import INT_MAX, widest_divisor
from autotune.codegen.model.operand_layout import OperandLayout
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Role, Tensor, row_major

SLOT_DTYPES = (DType.INT32, DType.INT64)
_LEFT_OUT_EVERY = 8  # one in so many tokens may have no slot, of those that are drawn


class Where(StrEnum):
    """What says where tokens go."""

    SLOTS = "slots"  # of each token
    ROWS = "rows"  # behind the keys that its request has: in the request's own page of the caches
    TABLE = "table"  # likewise, in pages of a table


@dataclass(frozen=True)
class KvAppendTensors(CacheProblem):
    """New tokens, the caches that they go to, and what says where.

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
