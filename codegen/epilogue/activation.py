"""Functions of one number, and their derivatives, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from math import erfc, pi, sqrt

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.float64]
_TANH_FACTOR, _TANH_CUBIC = sqrt(2 / pi), 0.044715  # constants of gelu_tanh
_QUICK = 1.702  # factor of quick_gelu


class Activation(StrEnum):
    """A function of one number, by PyTorch's names where it has one."""

    GELU = "gelu"  # x·Φ(x), by the error function
    GELU_TANH = "gelu_tanh"
    QUICK_GELU = "quick_gelu"  # x·sigmoid(1.702x)
    SILU = "silu"
    RELU = "relu"
    RELU2 = "relu2"  # max(x, 0)²
    SIGMOID = "sigmoid"
    TANH = "tanh"
    EXP = "exp"
    IDENTITY = "identity"

    @property
    def exact(self) -> bool:
        """Whether the result is the number or 0: nothing is rounded, and whole numbers stay whole."""
        return self in (Activation.RELU, Activation.IDENTITY)

    def apply(self, z: _Numbers) -> _Numbers:
        """The function of each number. NaN stays NaN, and so does what PyTorch computes as infinity · 0."""
        with np.errstate(all="ignore"):
            return _FUNCTIONS[self](z)

    def gradient(self, z: _Numbers, gradient: _Numbers) -> _Numbers:
        """The gradient of each number by that of its result; of relu it is 0 up to 0, whatever the latter is."""
        with np.errstate(all="ignore"):
            if self is Activation.RELU:
                return np.where(z <= 0, 0.0, gradient)
            return gradient if self is Activation.IDENTITY else gradient * _SLOPES[self](z)


FUSED = (Activation.IDENTITY, Activation.RELU, Activation.GELU, Activation.GELU_TANH, Activation.SILU)  # to products
STEEPEST = 1.25  # slope of these, at most


def _sigmoid(z: _Numbers) -> _Numbers:
    result: _Numbers = 1 / (1 + np.exp(-z))
    return result


def _normal(z: _Numbers) -> _Numbers:
    """The distribution function of the standard normal distribution."""
    return np.asarray(np.frompyfunc(lambda number: erfc(-number / sqrt(2)) / 2, 1, 1)(z), np.float64)


def _tanh_argument(z: _Numbers) -> _Numbers:
    """Twice the argument of gelu_tanh's tanh, whose (1 + tanh) / 2 is a sigmoid of it."""
    result: _Numbers = 2 * _TANH_FACTOR * (z + _TANH_CUBIC * z**3)
    return result


def _relu(z: _Numbers) -> _Numbers:
    return np.where(z <= 0, 0.0, z)


def _gelu_slope(z: _Numbers) -> _Numbers:
    result: _Numbers = _normal(z) + z * np.exp(-z * z / 2) / sqrt(2 * pi)
    return result


def _gelu_tanh_slope(z: _Numbers) -> _Numbers:
    s = _sigmoid(_tanh_argument(z))
    result: _Numbers = s + z * s * (1 - s) * 2 * _TANH_FACTOR * (1 + 3 * _TANH_CUBIC * z * z)
    return result


def _sigmoid_slope(z: _Numbers) -> _Numbers:
    s = _sigmoid(z)
    result: _Numbers = s * (1 - s)
    return result


def _scaled_silu_slope(z: _Numbers, factor: float) -> _Numbers:
    """That of z·sigmoid(factor·z)."""
    s = _sigmoid(factor * z)
    result: _Numbers = s * (1 + factor * z * (1 - s))
    return result


_FUNCTIONS: Mapping[Activation, Callable[[_Numbers], _Numbers]] = {
    Activation.GELU: lambda z: z * _normal(z),
    Activation.GELU_TANH: lambda z: z * _sigmoid(_tanh_argument(z)),
    Activation.QUICK_GELU: lambda z: z * _sigmoid(_QUICK * z),
    Activation.SILU: lambda z: z * _sigmoid(z),
    Activation.RELU: _relu,
    Activation.RELU2: lambda z: _relu(z) ** 2,
    Activation.SIGMOID: _sigmoid,
    Activation.TANH: np.tanh,
    Activation.EXP: np.exp,
    Activation.IDENTITY: lambda z: z,
}
_SLOPES: Mapping[Activation, Callable[[_Numbers], _Numbers]] = {
    Activation.GELU: _gelu_slope,
    Activation.GELU_TANH: _gelu_tanh_slope,
    Activation.QUICK_GELU: lambda z: _scaled_silu_slope(z, _QUICK),
    Activation.SILU: lambda z: _scaled_silu_slope(z, 1.0),
    Activation.RELU2: lambda z: 2 * _relu(z),
    Activation.SIGMOID: _sigmoid_slope,
    Activation.TANH: lambda z: 1 - np.tanh(z) ** 2,
    Activation.EXP: np.exp,
}
