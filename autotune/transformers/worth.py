"""Where an operator of this project is sooner than PyTorch's own function.

PyTorch records its functions by C++, and operators of this project by Python: a call whose gradient is recorded takes
the host some 0.1 ms longer, its backward pass included. Nothing of that is seen while the GPU has more to do than the
host. So functions that are one node of PyTorch's, too, stay its own where the GPU is done sooner than the host.
"""

from __future__ import annotations

from typing import Any

import torch

from autotune.torch.precision import allows_tf32

# From here on a step takes an H200 longer than its host: operations of a product in 16 bits, elements that are read.
_LEAST = {"gemm": 2**36, "layer_norm": 2**26, "map": 2**22}
_FP32, _TF32 = 16, 2  # times as long as in 16 bits


def is_worth(by: str, layer: Any, x: Any = None, *_others: Any) -> bool:
    """Whether an operator is to compute a layer.

    Args:
        by: its name; of a linear layer, gemm.
        layer: the layer.
        x: what the layer is called with.
    """
    if by not in _LEAST or x is None or not torch.is_grad_enabled():
        return True
    work = x.numel()
    if by == "gemm":
        full = layer.weight.dtype is torch.float32 and not torch.is_autocast_enabled(x.device.type)
        work *= 2 * layer.out_features * ((_TF32 if allows_tf32() else _FP32) if full else 1)
    return bool(work >= _LEAST[by])
