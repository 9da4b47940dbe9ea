"""Layers by operators of this project, as the package kernels puts their forward in place of a layer's own.

They have no state: `self` is the layer of the model, whose parameters they read.
"""

from __future__ import annotations

from typing import Any

import torch

from autotune import torch as functions

from . import rotary
from .norms import rms_norm


class _Layer(torch.nn.Module):  # type: ignore[misc]  # PyTorch may be missing, and is Any then
    has_backward = True
    can_torch_compile = True


class RMSNorm(_Layer):
    """A row, divided by the root of the mean of its squares, times the weight."""

    def forward(self, hidden_states: Any) -> Any:
        """Rows along the last axis, of any number of axes."""
        return rms_norm(self, 0.0, hidden_states)


class SiLU(_Layer):
    """x times the logistic function of x."""

    def forward(self, x: Any) -> Any:
        """Each element by itself."""
        return functions.map(x, "silu")


class GeLU(_Layer):
    """x times the distribution function of the normal distribution at x."""

    def forward(self, x: Any) -> Any:
        """Each element by itself."""
        return functions.map(x, "gelu")


class GeluTanh(_Layer):
    """GeLU by a hyperbolic tangent."""

    def forward(self, x: Any) -> Any:
        """Each element by itself."""
        return functions.map(x, "gelu_tanh")


class Rotary(_Layer):
    """Rotary embeddings of halves, of cosines and sines that have each angle twice."""

    def forward(self, q: Any, k: Any, cos: Any, sin: Any, unsqueeze_dim: int = 1) -> Any:
        """See `rotary.rotated`."""
        return rotary.rotated(q, k, cos, sin, unsqueeze_dim, doubled=True, interleaved=False)


class RotaryByHalfTables(_Layer):
    """Rotary embeddings of halves, of cosines and sines that have each angle once."""

    def forward(self, q: Any, k: Any, cos: Any, sin: Any, unsqueeze_dim: int = 1) -> Any:
        """See `rotary.rotated`."""
        return rotary.rotated(q, k, cos, sin, unsqueeze_dim, doubled=False, interleaved=False)


class RotaryOfNeighbours(_Layer):
    """Rotary embeddings of neighbours, of cosines and sines that have each angle twice."""

    def forward(self, q: Any, k: Any, cos: Any, sin: Any, unsqueeze_dim: int = 1) -> Any:
        """See `rotary.rotated`."""
        return rotary.rotated(q, k, cos, sin, unsqueeze_dim, doubled=True, interleaved=True)
