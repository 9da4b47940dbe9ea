"""What softmax_backward computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.fields import kind, layout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.rows.norm.inputs import normal
from autotune.codegen.rows.problem import RowProblem

# Largest error before a result is rounded, relative to what is added up.
_ERROR = 2.0**-18
_Numbers = npt.NDArray[np.float64]
_Row = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SoftmaxBackwardProblem(RowProblem):
    """dx, the gradient of x, from y = softmax(x · scale) and its gradient dy, row by row.

    dx = scale · y · (dy - Σ y·dy). Of a log-softmax, dx = scale · (dy - e^y · Σ dy), and 0 where y is -infinity, since
    what is masked is a constant.

    Attributes:
        rows, columns: of y, dy and dx.
        dtype: of their elements.
        log: whether y is the logarithm of the softmax.
        ldx: elements from one row to the next of y and of dy; 0 stands for rows without gaps.
        align_x: bytes that their pointers are a multiple of, at most 16.
        ldd, align_d: the same of dx.
    """

    written = frozenset("d")

    log: bool = kind(False, codes=("", "log"), transfers=True)
    ldx: int = layout()
    align_x: int = layout(16)
    ldd: int = layout()
    align_d: int = layout(16)

    @property
    def work(self) -> Work:
        """y and dy are read once, dx is written once; an element takes five operations, and an exponential if `log`."""
        elements = self.rows * self.columns
        exponentials = {Unit.SPECIAL: elements} if self.log else {}
        return Work(3 * elements * self.dtype.bytes, {Unit.FP32: 5 * elements} | exponentials)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``y``, ``dy`` and ``dx``, which may be ``dy`` if it lies alike."""
        y = replace(self.tensor("x", self.dtype, Role.INPUT), name="y")
        dx = replace(self.tensor("d", self.dtype, Role.OUTPUT, Within.rounded(self.dtype)), name="dx")
        alike = self.layout_of("x") == self.layout_of("d")
        return y, replace(y, name="dy"), replace(dx, in_place="dy") if alike else dx

    @property
    def scalars(self) -> Mapping[str, float]:
        """That of a temperature of 1, for which PyTorch has a function."""
        return {"scale": 1.0}

    @property
    def error_weight(self) -> float:
        """What errors before rounding are multiplied by in the scale of dx."""
        return _ERROR / self.dtype.roundoff

    def inputs(self, seed: int) -> dict[str, Array]:
        """Numbers of the size of a softmax, or their logarithms, and normal ones; rows of each kind of `_SPECIAL`."""
        random = np.random.default_rng(seed)
        y, dy, _ = self.tensors
        level = -np.log(max(1, self.columns)) - 2

        def softmaxes(count: int) -> Array:
            logits = level + 2 * random.standard_normal(count, np.float32)
            return np.asarray(logits if self.log else np.exp(logits)).astype(self.dtype.numpy)

        flat = {"y": repeated(softmaxes, y.size), "dy": normal(random, dy)}
        chosen = random.choice(self.rows, min(len(_SPECIAL), self.rows // 2), replace=False) if self.rows > 1 else ()
        for row, (name, change) in zip(chosen if self.columns else (), _SPECIAL, strict=False):
            values = y.view(flat[name])[row].astype(np.float32)
            change(values)
            with np.errstate(divide="ignore"):
                values = np.log(values) if self.log and name == "y" else values
            y.view(flat[name])[row] = values
        if self.log:
            flat["dy"][flat["y"] == -np.inf] = 0  # as of a loss that leaves out what is masked
        return flat

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Small whole numbers; None of logarithms, whose exponentials are rounded."""
        if self.log:
            return None
        random = np.random.default_rng(seed)
        read = [tensor for tensor in self.tensors if tensor.role is Role.INPUT]
        values = np.array([-2, -1, 1, 2], np.float32).astype(self.dtype.numpy)
        return {tensor.name: repeated(lambda count: random.choice(values, count), tensor.size) for tensor in read}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """dx in float64, and the scale of its errors."""
        views = self.views(inputs)
        y, dy = (views[name].astype(np.float64) for name in ("y", "dy"))
        factor = float(np.float32(scalars["scale"]))
        if self.log:
            masked, p = y == -np.inf, np.exp(y)
            dx = np.where(masked, 0, dy - p * _sum(dy))
            uncertain = p * (1 + np.where(masked, 0, np.abs(y)))
            errors = np.where(masked, 0, np.abs(dy) + uncertain * _sum(np.abs(dy)))
        else:
            dx = y * (dy - _sum(y * dy))
            errors = np.abs(y) * (np.abs(dy) + _sum(np.abs(y * dy)))
        dx, errors = factor * dx, abs(factor) * errors
        return self.buffers({"dx": dx, "dx_scale": np.abs(dx) + self.error_weight * errors})


def _sum(values: _Numbers) -> _Numbers:
    """Of each row, as a column."""
    return np.asarray(values.sum(axis=1, keepdims=True))


def _certain(row: _Row) -> None:
    row[:], row[-1] = 0, 1


def _masked(row: _Row) -> None:
    row[:] = 1 / row.size
    row[row.size // 2 :] = 0


def _nothing(row: _Row) -> None:
    row[:] = 0


def _not_a_number(row: _Row) -> None:
    row[:] = np.nan


def _far_from_zero(row: _Row) -> None:
    row += 1e4


def _cancelling(row: _Row) -> None:
    row[:] = 1000
    row[1::2] = -1000


# Rows of y before the logarithm, and of dy.
_SPECIAL: tuple[tuple[str, Callable[[_Row], None]], ...] = (
    ("y", _masked),
    ("dy", _cancelling),
    ("y", _not_a_number),
    ("dy", _far_from_zero),
    ("y", _nothing),
    ("y", _certain),
)
