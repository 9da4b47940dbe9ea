"""Layers made of operators."""

from __future__ import annotations

from typing import Any, Self

import torch

from .operators import functions


class Linear(torch.nn.Linear):
    """``torch.nn.Linear`` by gemm in bfloat16 and float16, and by sgemm in true FP32; leading axes are rows."""

    def forward(self, input: Any) -> Any:
        """X·Wᵀ + bias."""
        rows, weights = input.reshape(-1, self.in_features), self.weight.mT
        if self.weight.dtype is torch.float32:
            product = functions["sgemm"](rows, weights)
            product = product if self.bias is None else product + self.bias
        else:
            product = functions["gemm"](rows, weights, self.bias)
        return product.reshape(*input.shape[:-1], self.out_features)

    def store_by_input(self) -> Self:
        """Store the weights input by input, which products of few rows read faster; shape and values stay."""
        self.weight.data = self.weight.data.mT.contiguous().mT
        return self
