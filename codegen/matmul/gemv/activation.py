"""What becomes of an output before it is stored, in NumPy and in CUDA's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from math import erf, pi, sqrt

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.float64]


class Activation(StrEnum):
    """A function of one number, by PyTorch's names."""

    IDENTITY = "identity"
    RELU = "relu"
    GELU = "gelu"  # by the error function
    GELU_TANH = "gelu_tanh"
    SILU = "silu"

    @property
    def exact(self) -> bool:
        """Whether whole numbers become whole numbers."""
        return self in (Activation.IDENTITY, Activation.RELU)

    def apply(self, z: _Numbers) -> _Numbers:
        """The function of each number. NaN stays NaN, and so does what PyTorch computes as infinity · 0."""
        with np.errstate(invalid="ignore", over="ignore"):
            return _FUNCTIONS[self](z)


def _gelu(z: _Numbers) -> _Numbers:
    errors: _Numbers = np.asarray(np.frompyfunc(erf, 1, 1)(z / sqrt(2)), np.float64)
    return z * (0.5 * (1 + errors))


def _gelu_tanh(z: _Numbers) -> _Numbers:
    result: _Numbers = z * (0.5 * (1 + np.tanh(sqrt(2 / pi) * (z + 0.044715 * z**3))))
    return result


def _silu(z: _Numbers) -> _Numbers:
    result: _Numbers = z / (1 + np.exp(-z))
    return result


_FUNCTIONS: Mapping[Activation, Callable[[_Numbers], _Numbers]] = {
    Activation.IDENTITY: lambda z: z,
    Activation.RELU: lambda z: np.maximum(z, 0),
    Activation.GELU: _gelu,
    Activation.GELU_TANH: _gelu_tanh,
    Activation.SILU: _silu,
}
