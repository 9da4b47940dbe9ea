"""What rms_norm and layer_norm compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.rows.invariance import chosen_by_columns
from autotune.codegen.rows.problem import RowProblem

from .inputs import hard_rows, normal

# Largest relative errors, before the result is rounded, of a mean and of a reciprocal root of a mean: a sum of at most
# some hundred terms in a row, then of pairs.
_ERROR = 2.0**-18
_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NormProblem(RowProblem):
    """A factor and perhaps a shift for each row r of x, then for each column, accumulated in FP32.

    With a residual, the sum of x and the residual, rounded to their type, is normalised, and written, too. NaN in a row
    makes all of it NaN.

    Attributes:
        rows, columns: of x and y.
        dtype: of the elements of x, y and the residual.
        weight: whether there is a factor for each column.
        float32_weight: whether weight and bias are float32 whatever the dtype is.
        residual: whether a residual is added to x first, and the sum is an output.
        int8, float8: whether each row of y is divided by a scale of its own, max |y| / 127 or 448, and rounded to int8
            or float8_e4m3fn; the scales are an output.
        statistics: whether rstd, and the mean where it is subtracted, are outputs, one float32 for each row.
        batch_invariant: whether the bits of a row's result may depend on nothing but the row and how rows are aligned.
        ldx: elements from one row to the next of x, the residual and the sum; 0 stands for rows without gaps.
        align_x: bytes that their pointers are a multiple of, at most 16.
        ldy, align_y: the same of y.
        align_w: bytes that the pointers of weight and bias are a multiple of, at most 16.
    """

    written = frozenset("y")
    centered: ClassVar[bool] = False  # whether the mean is subtracted

    weight: bool = kind(True, codes=("unweighted", ""), transfers=True)
    float32_weight: bool = kind(False, codes=("", "float32weight"), transfers=True)
    residual: bool = kind(False, codes=("", "residual"))
    int8: bool = kind(False, codes=("", "int8"))
    float8: bool = kind(False, codes=("", "float8"))
    statistics: bool = kind(False, codes=("", "statistics"), transfers=True)
    batch_invariant: bool = kind(False, codes=("", "batchinvariant"), transfers=True)
    ldx: int = layout()
    align_x: int = layout(16)
    ldy: int = layout()
    align_y: int = layout(16)
    align_w: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.int8 and self.float8:
            raise ValueError("int8=True, float8=True: expected one of them at most")
        if self.dtype is DType.FLOAT32 or not (self.weight or self.biased):
            object.__setattr__(self, "float32_weight", False)
        self._check_alignment("align_w", self.weight_dtype.bytes)

    def usual(self, name: str) -> int:
        """See `Problem.usual`."""
        return WIDEST_ACCESS if name == "align_w" else super().usual(name)

    @property
    def served_as(self) -> Self | None:
        """See `Problem.served_as`."""
        return chosen_by_columns(self)

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`, or of y."""
        return (self.dtype if operand == "x" else self.result_dtype).bytes

    @property
    def out_dtype(self) -> DType | None:
        """The type of y if it is quantised."""
        return DType.INT8 if self.int8 else DType.FLOAT8_E4M3 if self.float8 else None

    @property
    def result_dtype(self) -> DType:
        """The type of y."""
        return self.out_dtype or self.dtype

    @property
    def largest(self) -> float:
        """What the largest result of a row is quantised to."""
        return 127.0 if self.int8 else DType.FLOAT8_E4M3.largest

    @property
    def biased(self) -> bool:
        """Whether there is a bias."""
        return False

    @property
    def weight_dtype(self) -> DType:
        """The type of weight and bias."""
        return DType.FLOAT32 if self.float32_weight else self.dtype

    @property
    def normalized_shape(self) -> tuple[int, ...]:
        """As PyTorch's argument of this name."""
        return (self.columns,)

    @property
    def work(self) -> Work:
        """x and the residual are read once, y and the sum are written once; an element takes two FMAs and a sum."""
        elements = self.rows * self.columns
        if not elements:
            return Work(0)
        small = sum(tensor.bytes for tensor in self.tensors if len(tensor.shape) == 1)
        moved = elements * (self.dtype.bytes * (3 if self.residual else 1) + self.result_dtype.bytes)
        return Work(moved + small, {Unit.FP32: (7 if self.centered else 4) * elements, Unit.SPECIAL: self.rows})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, what goes with it, and the outputs; y may be x if it lies alike, and the sum the residual."""
        x = self.tensor("x", self.dtype, Role.INPUT)
        y = self.tensor("y", self.result_dtype, Role.OUTPUT, self._scaled(self.result_dtype))
        alike = self.layout_of("x") == self.layout_of("y") and self.out_dtype is None
        factor = Tensor.flat("weight", self.weight_dtype, self.columns, Role.INPUT, self.align_w)
        sums = replace(x, name="sum", role=Role.OUTPUT, in_place="residual")
        statistic = Tensor.flat("rstd", DType.FLOAT32, self.rows, Role.OUTPUT, 4, self._scaled(DType.FLOAT32))
        return (
            x,
            *([factor] if self.weight else []),
            *([replace(factor, name="bias")] if self.biased else []),
            *([replace(x, name="residual")] if self.residual else []),
            replace(y, in_place="x") if alike else y,
            *([sums] if self.residual else []),
            *([replace(statistic, name="scale")] if self.out_dtype else []),
            *([replace(statistic, name="mean")] if self.statistics and self.centered else []),
            *([statistic] if self.statistics else []),
        )

    def _scaled(self, dtype: DType) -> Within:
        """The rounding of a result, relative to a scale that `reference` states."""
        return Within.rounded(dtype) if dtype.is_float else Within(absolute=0.5, relative=_ERROR)

    @property
    def scalars(self) -> Mapping[str, float]:
        """An eps that would show if it were forgotten; PyTorch has no offset of weights."""
        return {"eps": 0.01, "weight_offset": 0.0}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers, but for rows of each kind that is hard."""
        random = np.random.default_rng(seed)
        named = {tensor.name: tensor for tensor in self.tensors if tensor.role is Role.INPUT}
        return {
            name: hard_rows(random, tensor) if name == "x" else normal(random, tensor) for name, tensor in named.items()
        }

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """All outputs, and the scales of their errors; in float64 but for the sum, which is exact.

        A kernel subtracts the first element of a row from all of it, so errors are relative to the differences.
        """
        views, dtypes = self.views(inputs), {tensor.name: tensor.dtype for tensor in self.tensors}
        eps, offset = (float(np.float32(scalars[name])) for name in ("eps", "weight_offset"))
        found: dict[str, Array] = {}
        elements = views["x"]
        with np.errstate(invalid="ignore", over="ignore"):
            if self.residual:
                added = views["residual"].astype(np.float32)
                found["sum"] = elements = (elements.astype(np.float32) + added).astype(self.dtype.numpy)
            x = elements.astype(np.float64)
            origin = x[:, :1] if self.centered else np.zeros((self.rows, 1))
            differences = x - origin
            shift = differences.mean(axis=1, keepdims=True) if self.centered and self.columns else 0 * origin
            centered = differences - shift
            variance = np.square(centered).mean(axis=1, keepdims=True) if self.columns else 0 * origin
            rstd = 1 / np.sqrt(variance + eps)
            condition = 1 + rstd * np.abs(shift)  # by how much errors of differences grow
            factor = inputs["weight"].astype(np.float64) + offset if self.weight else np.ones(self.columns)
            bias = inputs["bias"].astype(np.float64) if self.biased else np.zeros(self.columns)
            scaled = centered * rstd
            y = scaled * factor + bias
            errors = condition * (np.abs(scaled) + self.centered) * np.abs(factor) + np.abs(bias)
            outputs = {"y": (y, errors)} if self.out_dtype is None else self._quantized(y, errors)
            if self.statistics:
                outputs |= {"rstd": (rstd, condition * rstd)}
                outputs |= {"mean": (origin + shift, np.abs(shift) + np.sqrt(variance))} if self.centered else {}
            for name, (values, error) in outputs.items():
                dtype = dtypes[name]
                scale = np.abs(values) + self.error_weight(dtype) * error if dtype.is_float else error
                found |= {name: values, f"{name}_scale": scale}
        return self.buffers(found)

    def _quantized(self, y: _Numbers, errors: _Numbers) -> dict[str, tuple[_Numbers, _Numbers]]:
        """Results in units of a scale for each row. Those of a row with NaN are NaN, or 0 as int8."""
        most = np.abs(y).max(axis=1, keepdims=True, initial=0.0)
        scale, error = most / self.largest, errors.max(axis=1, keepdims=True, initial=0.0) / self.largest
        with np.errstate(divide="ignore"):
            values = np.where(most == 0, 0.0, y / scale)
            uncertain = np.where(most == 0, 0.0, (errors + np.abs(values) * error) / scale)
        if self.int8:
            values, uncertain = (np.where(np.isnan(values), 0.0, one) for one in (values, uncertain))
        return {"y": (values, uncertain), "scale": (scale, error)}

    def error_weight(self, dtype: DType) -> float:
        """What the errors before rounding to a type are multiplied by in a scale."""
        return _ERROR / dtype.roundoff


@dataclass(frozen=True)
class RmsNormProblem(NormProblem):
    """y[r] = x[r] · rstd · (weight + weight_offset), where rstd is 1 / √(mean of x[r]² + eps)."""


@dataclass(frozen=True)
class LayerNormProblem(NormProblem):
    """y[r] = (x[r] - mean) · rstd · (weight + weight_offset) + bias, where rstd is 1 / √(variance of x[r] + eps).

    Attributes:
        bias: whether there is a summand for each column.
    """

    centered = True

    bias: bool = kind(True, codes=("unbiased", ""), transfers=True)

    @property
    def biased(self) -> bool:
        """Whether there is a bias."""
        return self.bias
