"""Operators for PyTorch's autograd and compiler: ``torch.ops.autotune.<name>``, and layers made of them.

Importing this package registers each operator that states a call, with the shapes and dtypes of its outputs and with
its derivative. Nothing else of autotune imports PyTorch.

``autotune.torch.<name>`` is the function for users: it has the parameters of ``dispatcher.<name>`` without outputs,
stream, and what scales an output's old content. ``conv1d``, ``conv2d`` and ``conv3d`` have PyTorch's own parameters
instead.
"""

from __future__ import annotations

from typing import Any

from .convolution import Conv1d as Conv1d
from .convolution import Conv2d as Conv2d
from .convolution import Conv3d as Conv3d
from .convolution import conv1d as conv1d
from .convolution import conv2d as conv2d
from .convolution import conv3d as conv3d
from .kvcache import block_table as block_table
from .kvcache import flash_attn_with_kvcache as flash_attn_with_kvcache
from .linear import Linear as Linear
from .operators import functions
from .sdpa import scaled_dot_product_attention as scaled_dot_product_attention
from .varlen import varlen_attn as varlen_attn


def __getattr__(name: str) -> Any:
    if name in functions:
        return functions[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *functions})
