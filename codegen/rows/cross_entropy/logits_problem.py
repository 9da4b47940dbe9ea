"""Rows of logits with targets: what cross_entropy and its backward have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.rows.logits import hard_logits, some_rows
from autotune.codegen.rows.problem import MOST_COLUMNS, RowProblem

TARGETS = (DType.INT64, DType.INT32)
# Largest relative errors of a sum of powers: of at most some hundred terms in a row, then of pairs.
_ERROR = 2.0**-18
LEAST = (
    2.0**-26
)  # least probability that counts: what is less has an error of 2^-44, since the error of an exponent grows with it
_Numbers = npt.NDArray[np.float64]


class _Row(NamedTuple):
    """What rows come to; each array has one column, or as many as the logits `z`."""

    z: _Numbers
    base: _Numbers  # what exponents are relative to
    sum: _Numbers  # the sum of exp(z - base)
    lse: _Numbers
    known: npt.NDArray[np.bool_]
    ignored: npt.NDArray[np.bool_]
    hit: npt.NDArray[np.bool_]  # whether a column is the target


@dataclass(frozen=True)
class LogitsProblem(RowProblem):
    """Rows of logits x and a target for each, the column whose logit shall be the largest; computed in FP32.

    z is x, or softcap · tanh(x / softcap). The loss of row r is

        lse - (1 - label_smoothing) · z[target] - label_smoothing · mean of z + lse_square_scale · lse²

    where lse is log Σ exp(z). A row whose target is ignore_index is not read, and all of its results are 0. Loss and
    gradient are NaN if no column is the target, if z has NaN or infinity, and if all of z is -infinity.

    Attributes:
        rows, columns: of x.
        dtype: of the elements of x and of its gradient.
        target_dtype: of the targets.
        smoothed: whether a part of each label, label_smoothing, belongs to all columns alike.
        z_loss: whether lse² is a part of the loss.
        capped: whether there is a softcap.
        shared_gradient: whether all losses have one gradient, rather than each its own.
        ldx, ldd: elements from one row to the next of x and of its gradient; 0 stands for rows without gaps.
        align_x, align_d: bytes that the pointers are a multiple of, at most 16.
    """

    written = frozenset("d")
    lse_given: ClassVar[bool] = False  # whether lse is an input

    columns: int = size(32000, least=1, most=MOST_COLUMNS)
    target_dtype: DType = kind(DType.INT64, allowed=TARGETS, implied=DType.INT64, transfers=True)
    smoothed: bool = kind(False, codes=("", "smoothed"))
    z_loss: bool = kind(False, codes=("", "zloss"), transfers=True)
    capped: bool = kind(False, codes=("", "capped"))
    shared_gradient: bool = kind(False, codes=("", "sharedgradient"), transfers=True)
    ldx: int = layout()
    align_x: int = layout(16)
    ldd: int = layout()
    align_d: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.has_gradient:
            usual = {"shared_gradient": False, "ldd": self.usual("ldd"), "align_d": WIDEST_ACCESS}
            for name, value in usual.items():
                object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def has_gradient(self) -> bool:
        """Whether the gradient of x is an output."""

    def alike(self, width: int) -> bool:
        """See `RowProblem`; without a gradient nothing is written."""
        return not self.has_gradient or super().alike(width)

    @property
    def work(self) -> Work:
        """x is read once; an element takes an exponential and four other operations, and three more for the gradient.

        A capped one takes two more functions each time that it is computed.
        """
        elements = self.rows * self.columns
        passes = 1 if self.lse_given or not self.has_gradient else 2
        moved = sum(tensor.size * tensor.dtype.bytes for tensor in self.tensors if len(tensor.shape) == 1)
        moved += elements * self.dtype.bytes * (1 + self.has_gradient)
        operations = 4 + 3 * self.has_gradient + self.smoothed + 4 * self.capped * passes
        return Work(
            moved if self.rows else 0,
            {Unit.FP32: operations * elements, Unit.SPECIAL: passes * (1 + 2 * self.capped) * elements},
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``target``, and what the kinds ask for; ``d`` may be x if it lies alike."""
        x = self.tensor("x", self.dtype, Role.INPUT)
        target = Tensor.flat("target", self.target_dtype, self.rows, Role.INPUT, self.target_dtype.bytes)
        return (x, target, *self._others())

    def _others(self) -> tuple[Tensor, ...]:
        if not self.has_gradient:
            return ()
        upstream = Tensor.flat("dloss", DType.FLOAT32, 1 if self.shared_gradient else self.rows, Role.INPUT, 4)
        d = self.tensor("d", self.dtype, Role.OUTPUT, Within.rounded(self.dtype))
        alike = self.layout_of("x") == self.layout_of("d")
        return upstream, replace(d, in_place="x") if alike else d

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if one were forgotten."""
        return {
            "ignore_index": -100,
            "label_smoothing": 0.1 if self.smoothed else 0.0,
            "lse_square_scale": 0.01 if self.z_loss else 0.0,
            "softcap": 20.0 if self.capped else 0.0,
        }

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers, but for hard rows; of the targets two are to be ignored, and the first or the last column.

        All others are columns, too: with what is none, PyTorch ends the use of the GPU.
        """
        random = np.random.default_rng(seed)
        x = self.tensors[0]
        target = random.integers(0, self.columns, self.rows)
        special = (-100, self.columns - 1, 0, -100)
        for row, value in zip(some_rows(random, self.rows, len(special)), special, strict=False):
            target[row] = value
        buffers = {"x": hard_logits(random, x), "target": target.astype(self.target_dtype.numpy)}
        if self.has_gradient:
            buffers["dloss"] = random.standard_normal(self._others()[0].size, np.float32)
        return buffers

    def row(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> _Row:
        """What the outputs follow from, in float64; under ``np.errstate``."""
        z = self.tensors[0].view(inputs["x"]).astype(np.float64)
        if self.capped:
            cap = float(np.float32(scalars["softcap"]))
            z = cap * np.tanh(z / cap)
        target = inputs["target"].astype(np.int64)[:, None]
        known = (target >= 0) & (target < self.columns)
        hit = np.arange(self.columns) == target
        base = z.max(axis=1, keepdims=True)
        total = np.exp(z - base).sum(axis=1, keepdims=True)
        lse = np.where(np.isinf(base), base, base + np.log(total))
        return _Row(z, base, total, lse, known, target == scalars["ignore_index"], hit)

    def _gradients(self, row: _Row, upstream: Array, scalars: Mapping[str, float]) -> dict[str, Array]:
        """``d`` and ``d_scale``."""
        smoothing, square, cap = (
            float(np.float32(scalars[name])) for name in ("label_smoothing", "lse_square_scale", "softcap")
        )
        d = self._others()[-1]
        p = np.exp(row.z - row.base) / row.sum
        factor = 1 + 2 * square * row.lse if square else 1.0  # not 0 · infinity
        less = np.where(row.hit, 1 - smoothing, 0.0) + smoothing / self.columns
        slope = 1 - np.square(row.z / cap) if self.capped else 1.0
        upstream = np.where(row.known, upstream.astype(np.float64)[:, None], np.nan)
        values = upstream * (p * factor - less) * slope
        errors = np.abs(upstream) * ((p + LEAST) * (1 + cap) * np.abs(factor) + less)
        return self._judged(d, row, values, errors)

    def _judged(self, tensor: Tensor, row: _Row, values: _Numbers, errors: _Numbers) -> dict[str, Array]:
        """An output and its scale as flat buffers, both 0 where a row is ignored; 0 where no error is allowed."""
        scale = np.where(np.isfinite(values), np.abs(values) + self.error_weight(tensor.dtype) * errors, 0.0)
        found = {tensor.name: values, f"{tensor.name}_scale": scale}
        return self.buffers({name: np.where(row.ignored, 0.0, array) for name, array in found.items()})

    def error_weight(self, dtype: DType) -> float:
        """What the errors before rounding to a type are multiplied by in a scale."""
        return _ERROR / dtype.roundoff
