"""What an attention computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd, sqrt
from typing import Any

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.integers import INT_MAX, widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.samples import sampled_rows
from autotune.codegen.model.strided import Axes, StridedProblem
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

from . import inputs, reference

DTYPES = (DType.BFLOAT16, DType.FLOAT16)
MOST_DIM = 256  # elements of a head
_MOST = 2**29  # queries, keys and windows: sums of three are 32-bit numbers
_ALL_ROWS = 1 << 28  # pairs of a query and a key up to which all rows are judged ...
_SAMPLED = 1024  # ... and rows that are beyond
# Error of a score, relative to 1 and itself, by sums of up to 256 products; so is that of a weight.
_SCORE_ERROR = 2.0**-14


@dataclass(frozen=True)
class AttentionProblem(StridedProblem):
    """O = softmax(scale·Q·Kᵀ)·V of each head, and the logarithm of the softmax's sums; sums are FP32.

    Source: Dao et al., FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness, 2022.

    Axes are b: batch, s: queries, t: keys, h: heads, g: heads of k and v, d: elements of a head of q and k, e: those
    of v and o. Query i has its diagonal at key i + keys - queries, so that the last ones meet, or at key i.

    A row that sees no key is 0, its logarithm -infinity.

    Attributes:
        queries, keys: of each head.
        heads: of q and o.
        batch: sequences.
        heads_kv: heads of k and v, each of which serves as many of q; 0 stands for as many as q has.
        window_left: keys up to the diagonal, it included, that a query sees; 0 stands for all.
        window_right: keys from the diagonal on, it included, that a query sees; 0 stands for all.
        head_dim: elements of a head of q and k.
        value_dim: elements of a head of v and o; 0 stands for `head_dim`.
        dtype: of the elements of q, k, v and o.
        causal: whether no key behind the diagonal is seen.
        top_left: whether the first query and the first key meet on the diagonal, rather than the last ones.
        softcap: whether scores s become softcap·tanh(s / softcap).
        sinks: whether each head has one more score, of type float32, that takes weight and has no value.
        lse: whether the logarithm of the sum of exponentials of each row is written, too, of type float32.
    """

    operands = {  # noqa: RUF012
        "q": Axes("bshd"),
        "k": Axes("btgd"),
        "v": Axes("btge"),
        "o": Axes("bshe"),
    }

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
    lse: bool = kind(False, codes=("", "lse"), transfers=True)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """No more rows than there may be, and heads that those of k and v divide."""
        fitted = super().fitted(fields)
        rows = max(1, fitted["queries"])
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

    @property
    def widest(self) -> int:
        """Elements of the widest loads that heads of q, k and v are aligned for, and are whole ones."""
        aligned = min(self.layouts[operand].vector_width for operand in "qkv")
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
    def low(self) -> int:
        """The first key that query i sees is i + low, if that is a key."""
        return self._diagonal - self.window_left + 1 if self.bounded_left else -_MOST

    @property
    def high(self) -> int:
        """The last key that query i sees is i + high, if that is a key."""
        seen = 1 if self.causal else self.window_right
        return min(self._diagonal + seen - 1, self.keys) if self.bounded_right else self.keys

    @property
    def _diagonal(self) -> int:
        return 0 if self.top_left else self.keys - self.queries

    @property
    def pairs(self) -> int:
        """Pairs of a query and a key that it sees, of a head."""
        unseen = self._seen_before(self.low) if self.bounded_left else 0
        return (self._seen_before(self.high + 1) if self.bounded_right else self.queries * self.keys) - unseen

    def _seen_before(self, first: int) -> int:
        """Keys ahead of key i + first, summed over the queries i."""
        return _triangle(self.queries + first, self.keys) - _triangle(first, self.keys)

    @property
    def work(self) -> Work:
        """Operands are read once, results are written once. A pair takes an exponential, and a product and a sum for
        each element of a head of k and v."""
        pairs = self.all_heads * self.pairs
        results = self.bytes_of("o") + (4 * self.rows if self.lse else 0)
        read = sum(map(self.bytes_of, "qkv")) + 4 * self.heads * self.sinks if pairs else 0
        operations = {
            Unit.TENSOR_FP16: 2 * pairs * (self.head_dim + self.value_elements),
            Unit.SPECIAL: pairs,
        }
        return Work(results + read, operations)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``q``, ``k``, ``v``, ``sinks`` if there are, ``o``, and ``lse``, whose heads have their queries in order."""
        rounded = Within.rounded(self.dtype, relative=_SCORE_ERROR)
        sinks = Tensor.flat("sinks", DType.FLOAT32, self.heads, Role.INPUT, 4)
        shape, strides = (self.batch, self.queries, self.heads), (self.heads * self.queries, 1, self.queries)
        near = Within.rounded(DType.FLOAT32, _SCORE_ERROR, _SCORE_ERROR)
        lse = Tensor("lse", DType.FLOAT32, shape, strides, Role.OUTPUT, 4, near, row_axes=3)
        return (
            *(self.tensor(operand, Role.INPUT) for operand in "qkv"),
            *([sinks] if self.sinks else []),
            replace(self.tensor("o", Role.OUTPUT, rounded), row_axes=3),
            *([lse] if self.lse else []),
        )

    @property
    def flushed(self) -> float:
        """The weight of Σ|v| / Σe^s in the scale of o: weights lose what is below half the smallest number."""
        return self.dtype.smallest / 2 / self.dtype.roundoff

    @property
    def usual_scale(self) -> float:
        """What a scale of 0 stands for."""
        return 1 / sqrt(self.head_dim)

    @property
    def scalars(self) -> Mapping[str, float]:
        """A scale of 0 stands for 1 / √head_dim; a softcap of 0 for none."""
        return {"scale": 0.125 if self.softcap else 0.0, "softcap": 8.0 if self.softcap else 0.0}

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `inputs.random_inputs`."""
        return inputs.random_inputs(self.tensors, seed)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """See `inputs.exact_inputs`: logarithms are never exact."""
        named = {tensor.name: tensor for tensor in self.tensors}
        return None if self.lse or not self.keys else inputs.exact_inputs(named, seed, plain=not self.softcap)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """o and lse in float64, and ``o_scale``."""
        return self.reference_rows(inputs, scalars, np.arange(self.rows))

    def sampled_rows(self, seed: int) -> Array | None:
        """Of many pairs, a thousand rows: (b, s, h) in row-major order."""
        return sampled_rows(self.rows, seed, _SAMPLED) if self.rows * self.keys > _ALL_ROWS else None

    def reference_rows(
        self, inputs: Mapping[str, Array], scalars: Mapping[str, float], rows: Array
    ) -> dict[str, Array]:
        """See `reference`."""
        return reference.of_rows(
            {tensor.name: tensor for tensor in self.tensors},
            inputs,
            rows,
            self.seen,
            scale=scalars["scale"] or self.usual_scale,
            softcap=scalars["softcap"] if self.softcap else 0.0,
            flushed=self.flushed,
        )

    def seen(self, queries: Array) -> Array:
        """For each of some queries, which keys it sees."""
        keys = np.arange(self.keys)
        return (keys >= queries[:, None] + self.low) & (keys <= queries[:, None] + self.high)


def _triangle(count: int, most: int) -> int:
    """0 + 1 + 2 + …, so many terms, none of them above `most`."""
    rising = max(0, min(count, most))
    return rising * (rising - 1) // 2 + most * max(0, count - most)
