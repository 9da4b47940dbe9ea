"""What an attention with cached keys takes: its sizes, kinds and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from autotune.codegen.attention.attention.weighted_values import WeightedValues
from autotune.codegen.attention.cache import SCALE_AXES, SCALED, Cache, CacheProblem, Scales
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, size
from autotune.codegen.model.indices import Indices, Spread
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.operand_layout import OperandLayout
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Role, Tensor, row_major

MOST_QUERIES = 1 << 14  # a chunk of a prompt
MOST_DIM = 576  # elements of a head: the latent keys of DeepSeek's models


@dataclass(frozen=True)
class CachedRequests(CacheProblem, WeightedValues):
    """Queries of requests, and the cache that their keys and values are in.

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
    def key_bytes(self) -> int:
        """Of a key and its value, of a head, without their scales."""
        values = 0 if self.latent else self.value_elements
        return (self.head_dim + values) * self.dtype_of("k").bytes

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
