"""How conv3d is differentiated."""

from __future__ import annotations

from autotune.search_spaces.contract.derivative import Derivative
from autotune.search_spaces.convolution.conv2d.derivative import backward

DERIVATIVE = Derivative(backward, saves=("x", "weight", "bias"))
