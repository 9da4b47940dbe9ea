"""How exactly PyTorch wants products of float32."""

from __future__ import annotations

import torch


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]  # PyTorch may be missing, and is Any then
def allows_tf32() -> bool:
    """Whether their elements may keep 10 bits of their fraction: by ``torch.set_float32_matmul_precision``, or by
    ``fp32_precision``. PyTorch compiles code anew that was compiled under another setting."""
    settings = torch.backends.cuda.matmul
    try:
        return bool(settings.fp32_precision == "tf32")
    except AttributeError:  # PyTorch below 2.9
        return bool(settings.allow_tf32)
