"""Whether a graph of CUDA is being captured."""

from __future__ import annotations

from typing import Any

import torch


def is_captured(tensor: Any) -> bool:
    """Whether what is done with a tensor now becomes part of a graph, and is not done yet."""
    return bool(tensor.is_cuda and torch.cuda.is_current_stream_capturing())
