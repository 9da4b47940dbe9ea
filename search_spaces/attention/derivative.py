"""How attention is differentiated: by the operator of its gradients, from the logarithms of its sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative

from .fragment_tables import TABLES

_OPTIONS = ("scale", "causal", "window_left", "window_right", "top_left", "softcap", "score", "mask")


def derivative_by(operator: str, *more: str, options: tuple[str, ...] = ()) -> Derivative:
    """All four gradients together; equal bits where PyTorch is told to use deterministic algorithms.

    Args:
        operator: which computes the gradients.
        more: inputs that it takes between the logarithms and the sinks.
        options: of the call, beside those that all have.
    """
    saved = ("q", "k", "v", "out", "lse", *more, "sinks", *TABLES)

    def backward(given: Backward) -> Mapping[str, Any]:
        import torch

        if given.wanted & TABLES.keys():
            raise ValueError("numbers requires a gradient: expected a table that requires none, for it has none")
        gradient = given.gradients["out"]
        if gradient.stride(-1) != 1 or 0 in gradient.stride():
            gradient = gradient.contiguous()  # an expanded scalar has no rows
        found = getattr(given.operators, operator)(
            gradient,
            *(given.saved[name] for name in saved),
            deterministic=torch.are_deterministic_algorithms_enabled(),
            **{name: given.arguments[name] for name in (*_OPTIONS, *options)},
        )
        named = zip(("q", "k", "v", "sinks"), found, strict=True)
        return {name: one for name, one in named if name in given.wanted}

    return Derivative(backward, saves=saved)
