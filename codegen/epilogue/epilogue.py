"""What becomes of the sums of a product before they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.argument import Argument

from .activation import Activation
from .gate import Gate

ARGUMENTS = (Argument("alpha", "float"), Argument("beta", "float"))
_Numbers = npt.NDArray[np.float64]


class Bias(StrEnum):
    """What is added to the scaled product."""

    NONE = "none"
    ROW = "row"  # an element for each column, to each row
    COLUMN = "column"  # an element for each row, to each column


@dataclass(frozen=True)
class Epilogue:
    """D = activation(Z) + beta·C with Z = alpha·product + bias; of gated pairs, activation(gates)·factors + beta·C.

    `finish.cuh` computes it.

    Attributes:
        bias: what is added to the scaled product.
        activation: applied to Z, or to the gates.
        gate: where the columns of Z hold gates and factors.
        residual: whether beta·C is added.
        preactivation: whether Z is stored, too.
    """

    bias: Bias = Bias.NONE
    activation: Activation = Activation.IDENTITY
    gate: Gate = Gate.NONE
    residual: bool = False
    preactivation: bool = False

    @property
    def scalars(self) -> dict[str, float]:
        """Values of alpha and beta that would show if they were forgotten."""
        return {"alpha": 1.5, "beta": -0.5 if self.residual else 0.0}

    def before_activation(self, product: _Numbers, bias: npt.NDArray[np.generic] | None) -> _Numbers:
        """Z of a scaled product of shape (batch, rows, columns) and of the elements of the bias."""
        if bias is None:
            return product
        elements = bias.astype(np.float64)
        return product + (elements[:, None] if self.bias is Bias.COLUMN else elements)

    def after_activation(self, z: _Numbers, before: npt.NDArray[np.generic] | None, beta: float) -> _Numbers:
        """D of Z and, if it is there, of what C is; with beta = 0 that does not count, whatever it is."""
        if self.gate is Gate.NONE:
            result = self.activation.apply(z)
        else:
            gates, factors = self.gate.separated(z)
            result = self.activation.apply(gates) * factors
        return result if before is None or not beta else result + beta * before.astype(np.float64)

    @property
    def conditions(self) -> dict[str, int | str]:
        """What conditions in headers name: its fields, 0 where one is ``none``, and the values that these may have."""
        values = (*Activation, Bias.ROW, Bias.COLUMN, Gate.HALVES, Gate.INTERLEAVED)
        return {str(value): str(value) for value in values} | {
            "activation": str(self.activation),
            "bias": 0 if self.bias is Bias.NONE else str(self.bias),
            "gate": 0 if self.gate is Gate.NONE else str(self.gate),
            "preactivation": self.preactivation,
        }

    def formula(self, product: str, before: str) -> str:
        """The right side of a comment that begins with ``D = ``, where C is called `before`."""
        bias = "" if self.bias is Bias.NONE else f" + {self.bias}"
        gated = "" if self.gate is Gate.NONE else f" of gates in {self.gate}, times factors"
        return f"{self.activation}(alpha*{product}{bias}){gated}{f' + beta*{before}' if self.residual else ''}"


def scalars_of_kernel(scalars: Mapping[str, float]) -> tuple[float, float]:
    """Alpha and beta as a kernel gets them: in float32."""
    return float(np.float32(scalars["alpha"])), float(np.float32(scalars["beta"]))
