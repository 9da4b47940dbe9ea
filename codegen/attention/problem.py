"""What attention and its gradient have in common: heads, which keys queries see, and how scores are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd, sqrt
from typing import Any, ClassVar

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.integers import INT_MAX, ceil_div, widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import StridedProblem
from autotune.codegen.model.tensor import Tensor

from .band import Band

DTYPES = (DType.BFLOAT16, DType.FLOAT16)
MOST_DIM = 256  # elements of a head
_MOST = 2**29  # queries, keys and windows: sums of three are 32-bit numbers


Places = Mapping[str, "Array | int"]  # batch, head, q and k of pairs, as fragments have them


@dataclass(frozen=True)
class HeadProblem(StridedProblem):
    """Heads of queries, keys and values, and softmax(scale·Q·Kᵀ).

    Axes are b: batch, s: queries, t: keys, h: heads, g: heads of k and v, d: elements of a head of q and k, e: those
    of v and o. Query i has its diagonal at key i + keys - queries, so that the last ones meet, or at key i.

    Attributes:
        queries, keys: of each head.
        heads: of q and o.
        batch: sequences.
        heads_kv: heads of k and v, each of which serves as many of q; 0 stands for as many as q has.
        window_left: keys up to the diagonal, it included, that a query sees; 0 stands for all.
        window_right: keys from the diagonal on, it included, that a query sees; 0 stands for all.
        head_dim: elements of a head of q and k.
        value_dim: elements of a head of v and o; 0 stands for `head_dim`.
        dtype: of the elements of q, k and v, and of what has their shapes.
        causal: whether no key behind the diagonal is seen.
        top_left: whether the first query and the first key meet on the diagonal, rather than the last ones.
        softcap: whether scores s become softcap·tanh(s / softcap).
        sinks: whether each head has one more score, of type float32, that takes weight and has no value.
    """

    segmented: ClassVar[bool] = False  # whether sequences lie one behind the other, and offsets say where
    own_diagonals: ClassVar[bool] = False  # whether bounds are relative to each sequence's diagonal

    queries: int = size(4096, most=_MOST, short="q")
    keys: int = size(4096, most=_MOST, short="k")
    heads: int = size(16, least=1, short="h")
    batch: int = size(2, implied=1, short="b")
    heads_kv: int = size(8, implied=0, short="g")
    window_left: int = size(1024, implied=0, most=_MOST, short="left")
    window_right: int = size(1, implied=0, most=_MOST, short="right")
    head_dim: int = kind(64, least=1, most=MOST_DIM, short="d")
    value_dim: int = kind(0, least=0, most=MOST_DIM, short="e", implied=0)
    dtype: DType = kind(DType.BFLOAT16, allowed=DTYPES)
    causal: bool = kind(False, codes=("", "causal"))
    top_left: bool = kind(False, codes=("", "topleft"))
    softcap: bool = kind(False, codes=("", "softcap"))
    sinks: bool = kind(False, codes=("", "sinks"))

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """No more rows than there may be, and heads that those of k and v divide."""
        fitted = super().fitted(fields)
        rows = max(1, fitted["queries"], fitted["keys"])
        heads = min(fitted["heads"], INT_MAX // rows)
        heads_kv = gcd(heads, fitted["heads_kv"]) if fitted["heads_kv"] else 0
        changed = {"heads": heads, "batch": min(fitted["batch"], INT_MAX // (rows * heads))}
        right = 0 if fitted["causal"] else fitted["window_right"]
        return fitted | changed | {"heads_kv": 0 if heads_kv == heads else heads_kv, "window_right": right}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heads_kv and self.heads % self.heads_kv:
            raise ValueError(f"heads_kv={self.heads_kv}: expected a divisor of the {self.heads} heads of q")
        if self.rows > INT_MAX:
            raise ValueError(
                f"batch={self.batch}, queries={self.queries}, heads={self.heads}: expected {INT_MAX} rows at most"
            )
        if self.causal and self.window_right:
            raise ValueError(f"window_right={self.window_right}: expected 0 with causal, which sees the diagonal last")
        if self.window_left >= (self.queries if self.top_left else self.keys):  # no query is so far from the first key
            object.__setattr__(self, "window_left", 0)
        if self.top_left and not self.bounded_left and not self.bounded_right:
            object.__setattr__(self, "top_left", False)
        for name, same in (("heads_kv", self.heads), ("value_dim", self.head_dim)):
            if getattr(self, name) == same:
                object.__setattr__(self, name, 0)

    @property
    def kv_heads(self) -> int:
        """Heads of k and v."""
        return self.heads_kv or self.heads

    @property
    def group(self) -> int:
        """Heads of q that a head of k and v serves."""
        return self.heads // self.kv_heads

    @property
    def rows(self) -> int:
        """Queries of all heads."""
        return self.queries * self.all_heads

    @property
    def all_heads(self) -> int:
        """Heads of q of all sequences."""
        return self.batch * self.heads

    @property
    def value_elements(self) -> int:
        """Elements of a head of v and o."""
        return self.value_dim or self.head_dim

    def widest_of(self, *operands: str) -> int:
        """Elements of the widest accesses that heads of these operands are aligned for, and are whole ones."""
        layouts = self.layouts
        aligned = min(layouts[operand].vector_width for operand in operands)
        return widest_divisor(aligned, self.head_dim, self.value_elements)

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {
            "b": self.batch,
            "s": self.queries,
            "t": self.keys,
            "h": self.heads,
            "g": self.kv_heads,
            "d": self.head_dim,
            "e": self.value_elements,
        }

    def dtype_of(self, operand: str) -> DType:
        """That of all."""
        return self.dtype

    @property
    def bounded_left(self) -> bool:
        """Whether queries do not see the first keys."""
        return self.window_left > 0

    @property
    def bounded_right(self) -> bool:
        """Whether queries do not see the last keys."""
        return self.causal or self.window_right > 0

    @property
    def band(self) -> Band:
        """Which keys are seen, by window_left keys up to the diagonal and window_right from there on, it included."""
        right = 1 if self.causal else self.window_right
        return Band(
            low=1 - self.window_left if self.bounded_left else None,
            high=right - 1 if self.bounded_right else None,
            top_left=self.top_left,
        )

    @property
    def low(self) -> int:
        """The first key that query i sees is i + low, or i + diagonal + low, if that is a key."""
        low = self.band.low
        if self.own_diagonals:
            return low or 0
        return -_MOST if low is None else self.band.diagonal(self.queries, self.keys) + low

    @property
    def high(self) -> int:
        """The last key that query i sees is i + high, or i + diagonal + high, if that is a key."""
        high = self.band.high
        if self.own_diagonals:
            return high or 0
        return self.keys if high is None else min(self.band.diagonal(self.queries, self.keys) + high, self.keys)

    @property
    def scored(self) -> bool:
        """Whether a fragment changes scores."""
        return False

    @property
    def masked(self) -> bool:
        """Whether a fragment says which keys are seen."""
        return False

    @property
    def tables(self) -> tuple[Tensor, ...]:
        """The arrays that fragments read."""
        return ()

    @property
    def ranged(self) -> bool:
        """Whether the mask reads integers, whose ranges say what a tile may see."""
        return False

    @property
    def pairs(self) -> int:
        """Pairs of a query and a key that it sees, of a head."""
        return self.band.pairs(self.queries, self.keys)

    @property
    def usual_pairs(self) -> int:
        """The same as a formula of sizes; see `Problem.usual_work`."""
        return self.pairs

    def offsets(self, seed: int) -> dict[str, Array]:
        """Where packed sequences begin, as inputs; empty if there are none."""
        return {}

    def placed(self, inputs: Mapping[str, Array]) -> Callable[[int, int, Array, Array], Places]:
        """Of a sequence and a head: the places of pairs of some queries and some keys."""
        return lambda batch, head, queries, keys: {"batch": batch, "head": head, "q": queries[:, None], "k": keys}

    def seen(self, inputs: Mapping[str, Array]) -> Callable[[int, Array], Array]:
        """Along the axis b, for each of some queries of a head, which keys it sees."""
        return lambda _, places: self.band.seen(places, self.queries, self.keys)

    def seen_counts(self, inputs: Mapping[str, Array]) -> Array:
        """How many keys each query of a head sees."""
        return self.band.counts(self.queries, self.keys)

    def row_tiles(self, rows: int, packed: int = 1) -> int:
        """Tiles of so many rows, of all heads: queries of a head, or of as many as are packed."""
        return ceil_div(self.queries, rows // packed) * (self.all_heads // packed)

    def key_tiles(self, rows: int) -> int:
        """Tiles of so many keys, of all heads of k and v."""
        return ceil_div(self.keys, rows) * (self.all_heads // self.group)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """See `batched_tensors`."""
        return self.batched_tensors

    def batched_views(self, buffers: Mapping[str, Array]) -> dict[str, Array]:
        """Flat buffers in the shapes of `batched_tensors`."""
        return {one.name: one.view(buffers[one.name]) for one in self.batched_tensors if one.name in buffers}

    @property
    def batched_tensors(self) -> tuple[Tensor, ...]:
        """The arrays with an axis b, of one element if sequences are packed; without their offsets."""
        raise NotImplementedError

    @property
    def flushed(self) -> float:
        """What numbers lose that are below half the smallest one of `dtype`, in units of its roundoff."""
        return self.dtype.smallest / 2 / self.dtype.roundoff

    @property
    def usual_scale(self) -> float:
        """What a scale of 0 stands for."""
        return 1 / sqrt(self.head_dim)

    @property
    def scalars(self) -> Mapping[str, float]:
        """A scale of 0 stands for 1 / √head_dim; a softcap of 0 for none."""
        return {"scale": 0.125 if self.softcap else 0.0, "softcap": 8.0 if self.softcap else 0.0}
