"""What puts two attentions of the same queries together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autotune.codegen.attention.problem import MOST_DIM
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.integers import INT_MAX, widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.strided import Axes, StridedProblem
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
_ERROR = 2.0**-20  # of weights, and of a logarithm relative to 1 and itself
_EMPTY_EVERY = 5  # one in so many rows of either has seen no key


@dataclass(frozen=True)
class AttentionMergeProblem(StridedProblem):
    """O = A·e^(a - l) + B·e^(b - l) of each row, where a and b are logarithms of sums, and l = log(e^a + e^b).

    So results over two sets of keys become that over both. One whose logarithm is -infinity has no part in it, whatever
    it holds; if both are, the row is 0, and so is its sum.

    Source: Dao et al., Flash-Decoding for long-context inference, 2023.

    Attributes:
        batch: sequences.
        queries: of each.
        heads: of each query.
        head_dim: elements of a head.
        dtype: of the elements of A, B and O.
        lse: whether l is written, too.
    """

    operands = {  # noqa: RUF012
        "first": Axes("bshd"),
        "second": Axes("bshd"),
        "o": Axes("bshd"),
    }

    queries: int = size(4096, short="q")
    heads: int = size(32, short="h")
    batch: int = size(2, implied=1, short="b")
    head_dim: int = kind(128, least=1, most=MOST_DIM, short="d")
    dtype: DType = kind(DType.BFLOAT16, allowed=DTYPES)
    lse: bool = kind(False, codes=("", "lse"), transfers=True)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """No more rows than there may be."""
        fitted = super().fitted(fields)
        heads = min(fitted["heads"], INT_MAX // max(1, fitted["queries"]))
        return fitted | {
            "heads": heads,
            "batch": min(fitted["batch"], INT_MAX // max(1, fitted["queries"] * heads)),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows > INT_MAX:
            raise ValueError(
                f"batch={self.batch}, queries={self.queries}, heads={self.heads}: expected {INT_MAX} rows at most"
            )

    @property
    def rows(self) -> int:
        """Queries of all heads."""
        return self.batch * self.queries * self.heads

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {"b": self.batch, "s": self.queries, "h": self.heads, "d": self.head_dim}

    def dtype_of(self, operand: str) -> DType:
        """That of all."""
        return self.dtype

    @property
    def widest(self) -> int:
        """Elements of the widest accesses that heads of all operands are aligned for, and are whole ones."""
        aligned = min(stated.vector_width for stated in self.layouts.values())
        return widest_divisor(aligned, self.head_dim)

    @property
    def work(self) -> Work:
        """Operands are read once, results are written once: two products for each element, two powers for each row."""
        elements = self.rows * self.head_dim
        moved = 3 * elements * self.dtype.bytes + (2 + self.lse) * self.rows * DType.FLOAT32.bytes
        return Work(moved, {Unit.FP32: 3 * elements, Unit.SPECIAL: 2 * self.rows})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``first``, ``first_lse``, ``second``, ``second_lse``, ``o`` and, if it is written, ``lse``."""
        near = Within(_ERROR, _ERROR)
        results = [self._logarithms("lse", Role.OUTPUT, near)] if self.lse else []
        return (
            self.tensor("first", Role.INPUT),
            self._logarithms("first_lse", Role.INPUT),
            self.tensor("second", Role.INPUT),
            self._logarithms("second_lse", Role.INPUT),
            self.tensor("o", Role.OUTPUT, Within.rounded(self.dtype, relative=_ERROR)),
            *results,
        )

    def _logarithms(self, name: str, role: Role, judged: Any = None) -> Tensor:
        """Those of a head's queries are side by side."""
        shape, strides = (self.batch, self.queries, self.heads), (self.heads * self.queries, 1, self.queries)
        judgement = {} if judged is None else {"judged": judged}
        return Tensor(name, DType.FLOAT32, shape, strides, role, 4, **judgement)

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers; rows without keys are NaN."""
        random = np.random.default_rng(seed)
        given = [one for one in self.tensors if one.role is Role.INPUT]
        made = {one.name: repeated(partial(_normal, random, one), one.size) for one in given}
        named = {one.name: one for one in given}
        for number, name in enumerate(("first", "second")):
            lse = made[f"{name}_lse"]
            lse *= 4
            lse[number :: _EMPTY_EVERY + number] = -np.inf
            rows = named[name].view(made[name])
            rows[named[f"{name}_lse"].view(lse) == -np.inf] = np.nan
        return made

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """In float64, with ``o_scale``: the sum of both terms' sizes, and that of their sum."""
        views = self.views(inputs)
        lses = [views[name].astype(np.float64) for name in ("first_lse", "second_lse")]
        lse = np.logaddexp(*lses)
        o = np.zeros((*lse.shape, self.head_dim))
        scale = o.copy()
        for name, own in zip(("first", "second"), lses, strict=True):
            there = own > -np.inf
            term = np.exp(own[there] - lse[there])[:, None] * views[name][there].astype(np.float64)
            o[there] += term
            scale[there] += np.abs(term)
        found = {"o": o, "o_scale": scale + np.abs(o)}
        return self.buffers(found | ({"lse": lse} if self.lse else {}))


def _normal(random: np.random.Generator, tensor: Tensor, count: int) -> Array:
    return random.standard_normal(count, np.float32).astype(tensor.dtype.numpy)
