"""What norm_backward computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.rows.norm.inputs import hard_rows, normal
from autotune.codegen.rows.problem import RowProblem

# Largest errors before a result is rounded, relative to what is added up.
_ERROR = 2.0**-18
_ELEMENTS_AT_ONCE = 2**20  # elements of x in float64: arrays of whole problems would be gigabytes
_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NormBackwardProblem(RowProblem):
    """dx, and the gradients dw and db of weight and bias, from the gradient dy of a norm's result.

    With g = dy · (weight + weight_offset) and x̂ = (x - mean) · rstd, each row of dx is
    rstd · (g - mean of g - x̂ · mean of g · x̂), dw is the sum over rows of dy · x̂, and db that of dy. Without
    `centered`, neither mean is subtracted.

    Attributes:
        rows, columns: of x, dy and dx.
        dtype: of their elements.
        centered: whether of layer_norm, otherwise of rms_norm.
        weight: whether there is a weight, and so its gradient.
        bias: whether there is a bias, and so its gradient.
        saved: whether rstd, and the mean where it is subtracted, are inputs, one float32 for each row. Otherwise they
            are computed again.
        float32_weight: whether weight, dw and db are float32 whatever the dtype is.
        ldx: elements from one row to the next of x and of dy; 0 stands for rows without gaps.
        align_x: bytes that their pointers are a multiple of, at most 16.
        ldd, align_d: the same of dx.
        align_w: bytes that the pointer of weight is a multiple of, at most 16.
    """

    written = frozenset("d")

    centered: bool = kind(True, codes=("rms", "layer"))
    weight: bool = kind(True, codes=("unweighted", ""))
    bias: bool = kind(True, codes=("unbiased", ""))
    saved: bool = kind(False, codes=("", "saved"))
    float32_weight: bool = kind(False, codes=("", "float32weight"), transfers=True)
    ldx: int = layout()
    align_x: int = layout(16)
    ldd: int = layout()
    align_d: int = layout(16)
    align_w: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dtype is DType.FLOAT32 or not self.summed:
            object.__setattr__(self, "float32_weight", False)
        self._check_alignment("align_w", self.weight_dtype.bytes)

    def usual(self, name: str) -> int:
        """See `Problem.usual`."""
        return WIDEST_ACCESS if name == "align_w" else super().usual(name)

    @property
    def width(self) -> int:
        """Elements of the widest access that rows of all arrays are aligned for."""
        return min(self.widths)

    @property
    def weight_dtype(self) -> DType:
        """The type of weight, dw and db."""
        return DType.FLOAT32 if self.float32_weight else self.dtype

    @property
    def summed(self) -> int:
        """Sums over the rows for each column."""
        return int(self.weight) + int(self.bias)

    @property
    def normalized_shape(self) -> tuple[int, ...]:
        """As PyTorch's argument of this name."""
        return (self.columns,)

    @property
    def work(self) -> Work:
        """x and dy are read once, dx and the sums are written once; an element takes some FMAs."""
        small = sum(tensor.bytes for tensor in self.tensors if len(tensor.shape) == 1)
        elements = self.rows * self.columns
        operations = 10 + 4 * (self.centered and not self.saved) + 2 * self.summed
        return Work(
            3 * elements * self.dtype.bytes + small, {Unit.FP32: operations * elements, Unit.SPECIAL: self.rows}
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``dy``, ``weight``, ``mean``, ``rstd``, ``dx``, ``dw``, ``db``, those that there are."""
        x = self.tensor("x", self.dtype, Role.INPUT)
        dtype = self.weight_dtype
        weight = Tensor.flat("weight", dtype, self.columns, Role.INPUT, self.align_w)
        rstd = Tensor.flat("rstd", DType.FLOAT32, self.rows, Role.INPUT, DType.FLOAT32.bytes)
        dw = Tensor.flat("dw", dtype, self.columns, Role.OUTPUT, dtype.bytes, Within.rounded(dtype))
        return (
            x,
            replace(x, name="dy"),
            *([weight] if self.weight else []),
            *([replace(rstd, name="mean")] if self.saved and self.centered else []),
            *([rstd] if self.saved else []),
            replace(self.tensor("d", self.dtype, Role.OUTPUT, Within.rounded(self.dtype)), name="dx"),
            *([dw] if self.weight else []),
            *([replace(dw, name="db")] if self.bias else []),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """As those of the norms."""
        return {"eps": 0.01, "weight_offset": 0.0}

    def error_weight(self, dtype: DType) -> float:
        """What the errors before rounding to a type are multiplied by in a scale."""
        return _ERROR / dtype.roundoff

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers, but for finite rows of each kind that is hard: NaN would be all that columns add up to."""
        random = np.random.default_rng(seed)
        named = {tensor.name: tensor for tensor in self.tensors if tensor.role is Role.INPUT}
        x = named.pop("x")
        made = {name: normal(random, tensor) for name, tensor in named.items()}
        made["x"] = hard_rows(random, x, finite=True)
        if self.saved:
            rows, eps = x.view(made["x"]), self.scalars["eps"]
            step = max(1, _ELEMENTS_AT_ONCE // max(1, self.columns))
            for first in range(0, self.rows, step):
                some = slice(first, first + step)
                _, mean, rstd = self._statistics(rows[some].astype(np.float64), eps)
                made["rstd"][some] = rstd[:, 0]
                if self.centered:
                    made["mean"][some] = mean[:, 0]
        return made

    def _statistics(self, x: _Numbers, eps: float) -> tuple[_Numbers, _Numbers, _Numbers]:
        """x - mean, mean and rstd of rows, the latter as columns; the mean is 0 where it is not subtracted."""
        origin = x[:, :1] if self.centered else np.zeros((len(x), 1))
        shift = _mean(x - origin) if self.centered else 0.0
        centered = x - origin - shift
        return centered, origin + shift, 1 / np.sqrt(_mean(np.square(centered)) + eps)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """All outputs in float64, and the scales of their errors."""
        views, dtypes = self.views(inputs), {tensor.name: tensor.dtype for tensor in self.tensors}
        eps, offset = (float(np.float32(scalars[name])) for name in ("eps", "weight_offset"))
        x, dy = (views[name].astype(np.float64) for name in ("x", "dy"))
        if self.saved:
            centered = x - inputs["mean"].astype(np.float64)[:, None] if self.centered else x
            rstd, shift = inputs["rstd"].astype(np.float64)[:, None], np.zeros((self.rows, 1))
        else:
            centered, mean, rstd = self._statistics(x, eps)
            shift = mean - x[:, :1] if self.centered else np.zeros((self.rows, 1))
        normal, condition = centered * rstd, 1 + rstd * np.abs(shift)
        g = dy * (inputs["weight"].astype(np.float64) + offset) if self.weight else dy
        slope, mean_g = _mean(g * normal), _mean(g) if self.centered else 0.0
        uncertain = np.abs(normal) + self.centered
        slope_error = _mean(np.abs(g) * uncertain)
        errors = np.abs(g) + self.centered * _mean(np.abs(g)) + uncertain * slope_error
        outputs = {"dx": (rstd * (g - mean_g - normal * slope), rstd * condition * errors)}
        if self.weight:
            outputs["dw"] = (dy * normal).sum(axis=0), (np.abs(dy) * uncertain * condition).sum(axis=0)
        if self.bias:
            outputs["db"] = dy.sum(axis=0), np.abs(dy).sum(axis=0)
        found: dict[str, Array] = {}
        for name, (values, error) in outputs.items():
            scale = np.abs(values) + self.error_weight(dtypes[name]) * error
            found |= {name: values, f"{name}_scale": scale}
        return self.buffers(found)


def _mean(values: Array) -> Array:
    """Of each row, as a column; 0 of rows without elements."""
    rows, columns = values.shape
    return values.mean(axis=1, keepdims=True) if columns else np.zeros((rows, 1))
