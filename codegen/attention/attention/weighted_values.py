"""What attentions of all kinds of keys have in common: weighted sums of values, and the logarithms of weights' sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from autotune.codegen.attention.problem import HeadProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind
from autotune.codegen.model.problem import Array
from autotune.codegen.model.samples import sampled_rows
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

from . import reference

_ALL_ROWS = 1 << 28  # pairs of a query and a key up to which all rows are judged ...
_SAMPLED = 1024  # ... and rows that are beyond
# Error of a score, relative to 1 and itself, by sums of up to 256 products; so is that of a weight.
_SCORE_ERROR = 2.0**-14
_TANH_ERROR = 2.0**-11  # relative, of the hardware's tanh

Buffers = Mapping[str, Array]
Changing = Callable[[Array, int, int, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class WeightedValues(HeadProblem):
    """O = softmax(scale·Q·Kᵀ)·V of each head, and the logarithm of the softmax's sums; sums are FP32.

    A row that sees no key is 0, its logarithm -infinity.

    Attributes:
        lse: whether the logarithm of the sum of exponentials of each row is written, too, of type float32.
    """

    lse: bool = kind(False, codes=("", "lse"), transfers=True)

    @property
    def widest(self) -> int:
        """Elements of the widest loads that heads of q, k and v are aligned for, and are whole ones."""
        return self.widest_of("q", "k", "v")

    def work_of(self, pairs: int, read: int) -> Work:
        """Operands are read once, results are written once. A pair takes an exponential, and a product and a sum for
        each element of a head of k and v.

        Args:
            pairs: of a query and a key that it sees, of all heads.
            read: bytes.
        """
        results = self.bytes_of("o") + (4 * self.rows if self.lse else 0)
        operations = {
            Unit.TENSOR_FP16: 2 * pairs * (self.head_dim + self.value_elements),
            Unit.SPECIAL: pairs,
        }
        return Work(results + read, operations)

    @property
    def sink_bytes(self) -> int:
        """Of all sinks."""
        return DType.FLOAT32.bytes * self.heads * self.sinks

    @property
    def score_error(self) -> float:
        """Of a score, and so of a weight relative to itself: a softcap bounds that of tanh, which is relative."""
        return _SCORE_ERROR + _TANH_ERROR * self.scalars["softcap"]

    @property
    def batched_tensors(self) -> tuple[Tensor, ...]:
        """``q``, ``k``, ``v``, ``sinks`` and tables if there are, ``o``, and ``lse``, whose heads have their queries
        in order."""
        error = self.score_error
        rounded = Within.rounded(self.dtype, relative=error)
        sinks = Tensor.flat("sinks", DType.FLOAT32, self.heads, Role.INPUT, 4)
        shape, strides = (self.extents["b"], self.queries, self.heads), (self.heads * self.queries, 1, self.queries)
        near = Within.rounded(DType.FLOAT32, error, _SCORE_ERROR)
        lse = Tensor("lse", DType.FLOAT32, shape, strides, Role.OUTPUT, 4, near, row_axes=3)
        return (
            *(self.tensor(operand, Role.INPUT) for operand in "qkv"),
            *([sinks] if self.sinks else []),
            *self.tables,
            replace(self.tensor("o", Role.OUTPUT, rounded), row_axes=3),
            *([lse] if self.lse else []),
        )

    def reference(self, inputs: Buffers, scalars: Mapping[str, float]) -> dict[str, Array]:
        """o and lse in float64, and ``o_scale``."""
        return self.reference_rows(inputs, scalars, np.arange(self.rows))

    def sampled_rows(self, seed: int) -> Array | None:
        """Of many pairs, a thousand rows: (b, s, h) in row-major order."""
        return sampled_rows(self.rows, seed, _SAMPLED) if self.rows * self.keys > _ALL_ROWS else None

    def reference_rows(self, inputs: Buffers, scalars: Mapping[str, float], rows: Array) -> dict[str, Array]:
        """See `reference`."""
        tensors, buffers = self._with_keys_in_order(inputs)
        return reference.of_rows(
            tensors,
            buffers,
            rows,
            self.seen(inputs),
            self.changing(inputs),
            scale=scalars["scale"] or self.usual_scale,
            softcap=scalars["softcap"] if self.softcap else 0.0,
            flushed=self.flushed,
        )

    def _with_keys_in_order(self, inputs: Buffers) -> tuple[Mapping[str, Tensor], Buffers]:
        """The tensors by name, and their buffers: k and v have axes of sequences, keys, heads and elements."""
        return {tensor.name: tensor for tensor in self.batched_tensors}, inputs

    def changing(self, inputs: Buffers) -> Changing:
        """What becomes of all scores of some queries of a sequence and a head, and which keys these may see."""
        return lambda scores, _, __, ___: (scores, np.ones(scores.shape, bool))
