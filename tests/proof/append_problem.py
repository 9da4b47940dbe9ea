"""What the second operator of the proof computes: it updates an array, its operands have axes in any order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import size
from autotune.codegen.model.indices import Indices, Order
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes, StridedProblem
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.work import Work


@dataclass(frozen=True)
class AppendProblem(StridedProblem):
    """cache[slots[b, s]] = x[b, s] for each token, of bfloat16; other slots of the cache stay as they are.

    Attributes:
        batch, sequence: tokens.
        heads, head_dim: of a token.
        slots: of the cache, at least as many as tokens.
    """

    operands = {"x": Axes("bshd", broadcast="b"), "cache": Axes("phd")}  # noqa: RUF012

    batch: int = size(2, short="b")
    sequence: int = size(512, short="s")
    heads: int = size(8, short="h")
    head_dim: int = size(128, least=1, short="d")
    slots: int = size(4096)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """As few tokens as slots, and one of each at least."""
        fitted = super().fitted(fields)
        batch = min(fitted["batch"], fitted["slots"])
        return fitted | {"batch": batch, "sequence": min(fitted["sequence"], fitted["slots"] // max(1, batch))}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokens > self.slots:
            raise ValueError(f"slots={self.slots}: expected {self.tokens} or more, one for each token")

    @property
    def tokens(self) -> int:
        """Of x."""
        return self.batch * self.sequence

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {"b": self.batch, "s": self.sequence, "h": self.heads, "d": self.head_dim, "p": self.slots}

    def dtype_of(self, operand: str) -> DType:
        """That of all."""
        return DType.BFLOAT16

    @property
    def work(self) -> Work:
        """x is read once and stored once, and slots are read."""
        return Work(2 * self.bytes_of("x") + 4 * self.tokens)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """x, slots, and the cache, which is updated."""
        tokens = self.batch, self.sequence
        indices = Indices(self.slots - 1, order=Order.DISTINCT)
        return (
            self.tensor("x", Role.INPUT),
            Tensor("slots", DType.INT32, tokens, (tokens[1], 1), Role.INPUT, 4, indices=indices),
            self.tensor("cache", Role.IN_OUT),
        )

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers; slots by the tensor's indices."""
        random = np.random.default_rng(seed)
        x, slots, cache = self.tensors
        assert slots.indices
        made = {one.name: random.standard_normal(one.size).astype(one.dtype.numpy) for one in (x, cache)}
        return made | {"slots": slots.indices.drawn(random, slots.size, np.int32)}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """All of the cache."""
        x, _, cache = self.tensors
        after = inputs["cache"].copy()
        cache.view(after)[inputs["slots"].reshape(self.batch, self.sequence)] = x.view(inputs["x"])
        return {"cache": after}
