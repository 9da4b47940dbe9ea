"""What the gradients of an attention are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log2
from typing import Any, ClassVar

import numpy as np

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.fragmented import FragmentedProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.problem import Array
from autotune.codegen.model.samples import sampled_rows
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

from . import inputs, reference

_ALL_ROWS = 1 << 26  # pairs of a query and a key up to which all rows are judged ...
_SAMPLED = 512  # ... and how many of dq, and of dk and dv, are beyond
# Error of a weight, relative to itself, by the sums of up to 256 products that its score is.
_WEIGHT_ERROR = 2.0**-14


@dataclass(frozen=True)
class AttentionBackwardProblem(FragmentedProblem):
    """The gradients of q, k, v and sinks from that of o = attention(q, k, v, sinks); sums are FP32.

    With the weights P = exp(S - lse), dP = dO·Vᵀ and δ = Σ dO·O of each row, dS = P·(dP - δ); then dV = Pᵀ·dO,
    dK = scale·dSᵀ·Q, dQ = scale·dS·K, and the gradient of a head's sink is -Σ exp(sink - lse)·δ. A row whose
    logarithm is -infinity sees no key. A softcap, or a fragment of scores, multiplies dS by its derivative.

    Source: Dao et al., FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness, 2022.

    Attributes:
        deterministic: whether equal inputs give equal bits. Else dq may be added up in any order.
    """

    forward_type: ClassVar[type[AttentionProblem]] = AttentionProblem
    operands = {  # noqa: RUF012
        "q": Axes("bshd"),
        "k": Axes("btgd"),
        "v": Axes("btge"),
        "o": Axes("bshe"),
        "dout": Axes("bshe"),
        "dq": Axes("bshd"),
        "dk": Axes("btgd"),
        "dv": Axes("btge"),
    }

    deterministic: bool = kind(False, codes=("", "deterministic"), transfers=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self.slope_fragment()
        except ValueError as error:
            raise ValueError(f"score: its derivative is {error}") from None
        if self.key_rows > INT_MAX:
            raise ValueError(
                f"batch={self.batch}, keys={self.keys}, heads_kv={self.kv_heads}: expected {INT_MAX} rows at most"
            )

    def forward(self, **fields: Any) -> AttentionProblem:
        """The attention whose gradients these are, of operands without gaps, with other fields as stated."""
        shared = {name: getattr(self, name) for name in (*self.sizes, *self.kinds, *self.data)}
        return self.forward_type(**shared, score=self.score, mask=self.mask, **fields)

    @property
    def key_rows(self) -> int:
        """Keys of all heads of k and v."""
        return self.keys * (self.all_heads // self.group)

    def work_of_pairs(self, pairs: int) -> Work:
        """Operands are read once, results are written once. A pair takes an exponential, and products and sums: three
        for each element of a head of k, two for each of v."""
        operations = {
            Unit.TENSOR_FP16: 2 * pairs * (3 * self.head_dim + 2 * self.value_elements),
            Unit.SPECIAL: pairs,
        }
        return Work(self.tensor_bytes, operations)

    @property
    def batched_tensors(self) -> tuple[Tensor, ...]:
        """``q``, ``k``, ``v``, ``o``, its gradient ``dout``, ``lse`` of shape (batch, heads, queries), ``sinks`` and
        tables if there are, and the gradients ``dq``, ``dk``, ``dv`` and ``dsinks``, of no elements without sinks."""
        rounded = Within.rounded(self.dtype, relative=_WEIGHT_ERROR)
        shape, strides = (self.extents["b"], self.heads, self.queries), (self.heads * self.queries, self.queries, 1)
        sinks = Tensor.flat("sinks", DType.FLOAT32, self.heads, Role.INPUT, 4)
        near = Within.rounded(DType.FLOAT32, relative=_WEIGHT_ERROR)
        first = {"dq": 0, "dk": self.rows, "dv": self.rows}
        return (
            *(self.tensor(operand, Role.INPUT) for operand in ("q", "k", "v", "o", "dout")),
            Tensor("lse", DType.FLOAT32, shape, strides, Role.INPUT, 4),
            *([sinks] if self.sinks else []),
            *self.tables,
            *(
                replace(self.tensor(name, Role.OUTPUT, rounded), row_axes=3, first_row=row)
                for name, row in first.items()
            ),
            Tensor.flat("dsinks", DType.FLOAT32, self.heads * self.sinks, Role.OUTPUT, 4, near),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """A power of two, so that there are exact inputs: 0 stands for 1 / √head_dim where that is one."""
        digits = round(log2(self.usual_scale))
        return {
            **super().scalars,
            **({} if self.softcap or self.usual_scale == 2.0**digits else {"scale": 2.0**digits}),
        }

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `inputs.random_inputs`."""
        return inputs.random_inputs(self, self.forward(lse=True), seed)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """See `inputs.exact_inputs`."""
        return inputs.exact_inputs(self, seed)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """The gradients in float64, and the scales of their errors."""
        return self.reference_rows(inputs, scalars, np.arange(self.rows + self.key_rows))

    def sampled_rows(self, seed: int) -> Array | None:
        """Of many pairs, some rows of dq, (b, s, h) in row-major order, and then some of dk and dv, (b, t, g)."""
        if max(self.rows * self.keys, self.key_rows) <= _ALL_ROWS:
            return None
        parts = (self.rows, 0), (self.key_rows, self.rows)
        sampled = (sampled_rows(count, seed, _SAMPLED) for count, _ in parts)
        chosen = (np.arange(count) if one is None else one for one, (count, _) in zip(sampled, parts, strict=True))
        return np.concatenate([one + first for one, (_, first) in zip(chosen, parts, strict=True)])

    def reference_rows(
        self, inputs: Mapping[str, Array], scalars: Mapping[str, float], rows: Array
    ) -> dict[str, Array]:
        """See `reference`."""
        return reference.of_rows(self, inputs, scalars, rows)
