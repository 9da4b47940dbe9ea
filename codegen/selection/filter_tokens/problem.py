"""What to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.selection.sampling.problem import Pairs, SamplingProblem, Source


class Result(StrEnum):
    """What is written."""

    SHARES = "shares"  # float32: each token's share of the weight of all that are kept, 0 of the others
    MASKED = "masked"  # the logits, -infinity of tokens that are not kept


@dataclass(frozen=True)
class FilterTokensProblem(SamplingProblem):
    """What `sampling` may draw of each row, as probabilities or as masked logits.

    A probability is the quotient of two weights (see `SamplingProblem`), each of which is rounded to float32, and so is
    the quotient. A token is kept unless a parameter leaves it out, also one that weighs 0. Of a row that has no token
    to draw, no token is kept.

    Attributes:
        temperatures: whether each row has a temperature, by which logits are divided before they are weighed; else 1.
        top_k: whether each row has a k, from 1 to 2048; any other one keeps all.
        pairs: none; nothing is drawn.
        result: what is written.
        ldx, ldy: elements from one row to the next; 0 stands for rows without gaps.
        align_x, align_y: bytes that the addresses of x and y are a multiple of, at most 16.
    """

    pairs: Pairs = kind(Pairs.NONE, allowed=(Pairs.NONE,), implied=Pairs.NONE)
    result: Result = kind(Result.SHARES, implied=Result.SHARES)
    ldy: int = layout()
    align_y: int = layout(16)
    written = frozenset("y")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.result is Result.MASKED and self.source is Source.PROBS:
            raise ValueError("result=masked, source=probs: expected logits to mask")

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Probabilities are not masked."""
        fitted = super().fitted(fields)
        return fitted | ({"result": Result.SHARES} if fitted["source"] == Source.PROBS else {})

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x`` and ``y``."""
        return dict.fromkeys("xy", (self.rows, self.columns))

    def element_bytes_of(self, operand: str) -> int:
        """Those of logits, or of what is written."""
        return self.result_dtype.bytes if operand == "y" else self.dtype.bytes

    @property
    def result_dtype(self) -> DType:
        """The type of y."""
        return self.dtype if self.result is Result.MASKED else DType.FLOAT32

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, the parameters of rows that there are, and ``y``."""
        return (*super().tensors[:-1], self.tensor("y", self.result_dtype, Role.OUTPUT))

    @property
    def scalars(self) -> Mapping[str, float]:
        """None."""
        return {}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Row by row, by integers."""
        x, masked = self.views(inputs)["x"], self.result is Result.MASKED
        y = np.full((self.rows, self.columns), -np.inf if masked else 0, self.result_dtype.numpy)
        for row in range(self.rows):
            kept = self.kept(x[row], inputs, row)
            shares = kept.weights.astype(np.float32) / np.float32(kept.weights.sum() if kept.tokens.size else 1)
            y[row, kept.tokens] = x[row, kept.tokens] if masked else shares
        return self.buffers({"y": y})
