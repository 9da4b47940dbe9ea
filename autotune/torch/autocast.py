"""What ``torch.autocast`` asks of layers."""

from __future__ import annotations

from typing import Any

import torch


def autocast(input: Any, *parameters: Any) -> tuple[Any, ...]:
    """The input of a layer and its parameters, each a tensor or None, in autocast's type where that is on."""
    device = "cuda" if input.is_cuda else input.device.type  # which takes an object
    if not torch.is_autocast_enabled(device):
        return input, *parameters
    dtype = torch.get_autocast_dtype(device)
    return tuple(None if one is None else one.to(dtype) for one in (input, *parameters))
