"""Layers made of operators."""

from __future__ import annotations

from typing import Any, Self

import torch

from .autocast import autocast
from .operators import functions
from .precision import allows_tf32


class Linear(torch.nn.Linear):
    """``torch.nn.Linear`` by gemm in bfloat16 and float16, and by sgemm in true FP32; leading axes are rows.

    float32 is multiplied as TF32, by gemm, where ``torch.set_float32_matmul_precision`` allows it.
    Under ``torch.autocast`` input, weights and bias are cast to its type first, as PyTorch's are.
    """

    def forward(self, input: Any) -> Any:
        """X·Wᵀ + bias."""
        input, weight, bias = autocast(input, self.weight, self.bias)
        rows = input if input.ndim == 2 else input.reshape(-1, input.shape[-1])
        if weight.dtype is not torch.float32:
            product = functions["gemm"](rows, weight.mT, bias)
        elif allows_tf32():
            product = functions["gemm"](rows, weight.mT, bias, allow_tf32=True)
        else:
            product = functions["sgemm"](rows, weight.mT)
            product = product if bias is None else product + bias
        return product if input.ndim == 2 else product.reshape(*input.shape[:-1], weight.shape[0])

    def store_by_input(self) -> Self:
        """Store the weights input by input, which products of few rows read faster; shape and values stay."""
        self.weight.data = self.weight.data.mT.contiguous().mT
        return self
