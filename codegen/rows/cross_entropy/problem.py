"""What cross_entropy and cross_entropy_backward compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.rows.invariance import chosen_by_columns

from .logits_problem import LogitsProblem


@dataclass(frozen=True)
class CrossEntropyProblem(LogitsProblem):
    """The loss of each row of logits, and the gradient of the logits if asked for.

    Attributes:
        lse: whether log Σ exp(z) of each row is an output.
        gradient: whether the gradient of x is an output, from that of the losses.
        batch_invariant: whether the bits of a row's result may depend on nothing but the row and how rows are aligned.
    """

    lse: bool = kind(False, codes=("", "lse"), transfers=True)
    gradient: bool = kind(False, codes=("", "gradient"))
    batch_invariant: bool = kind(False, codes=("", "batchinvariant"), transfers=True)

    @property
    def has_gradient(self) -> bool:
        """See `LogitsProblem`."""
        return self.gradient

    @property
    def served_as(self) -> Self | None:
        """See `Problem.served_as`."""
        return chosen_by_columns(self)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """See `LogitsProblem`; and ``loss``, and ``lse`` if asked for."""
        loss = Tensor.flat("loss", DType.FLOAT32, self.rows, Role.OUTPUT, 4, Within.rounded(DType.FLOAT32))
        return (*super().tensors, loss, *([replace(loss, name="lse")] if self.lse else []))

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """All outputs, and the scales of their errors."""
        smoothing, square, cap = (
            float(np.float32(scalars[name])) for name in ("label_smoothing", "lse_square_scale", "softcap")
        )
        named = {tensor.name: tensor for tensor in self.tensors}
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            row = self.row(inputs, scalars)
            log_sum = np.log(row.sum)
            hit = np.where(row.known, row.z.max(axis=1, keepdims=True, where=row.hit, initial=-np.inf), np.nan)
            loss = log_sum - (1 - smoothing) * (hit - row.base)
            errors = 1 + cap + np.abs(log_sum) + np.abs(hit - row.base)
            if self.smoothed:
                loss -= smoothing * (row.z.mean(axis=1, keepdims=True) - row.base)
                errors += smoothing * (np.abs(row.base) + np.abs(row.z).mean(axis=1, keepdims=True))
            if self.z_loss:
                loss += square * row.lse**2
                errors += square * row.lse**2
            found = self._judged(named["loss"], row, loss, errors)
            if self.lse:
                of_lse = 1 + cap + np.abs(row.base) + np.abs(log_sum)
                found |= self._judged(named["lse"], row, row.lse, of_lse)
            if self.gradient:
                found |= self._gradients(row, inputs["dloss"], scalars)
        return found


@dataclass(frozen=True)
class CrossEntropyBackwardProblem(LogitsProblem):
    """The gradient of the logits from that of the losses, where lse is known."""

    lse_given = True

    @property
    def has_gradient(self) -> bool:
        """See `LogitsProblem`."""
        return True

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """See `LogitsProblem`; and ``lse``."""
        return (*super().tensors, Tensor.flat("lse", DType.FLOAT32, self.rows, Role.INPUT, 4))

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `LogitsProblem`; lse about as that of most rows, which would take long to compute.

        It is finite: other libraries have NaN, or 0, where it is not.
        """
        random = np.random.default_rng((seed, 1))
        lse = np.log(self.columns) + 8 + random.standard_normal(self.rows)
        return super().inputs(seed) | {"lse": lse.astype(np.float32)}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """``d``, and the scale of its errors."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            lse = inputs["lse"].astype(np.float64)[:, None]
            lse = np.where(np.isposinf(lse), np.nan, lse)
            row = self.row(inputs, scalars)._replace(base=lse, sum=np.ones_like(lse), lse=lse)
            return self._gradients(row, inputs["dloss"], scalars)
