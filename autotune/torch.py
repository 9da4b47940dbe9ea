"""sgemm for PyTorch's autograd and compiler: ``torch.ops.autotune.sgemm``, and a linear layer made of it.

Importing this module registers the operator; nothing else of autotune imports it, nor PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch

from . import dispatcher

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def sgemm(a: Any, b: Any) -> Any:
    """A·B in true FP32, which autograd differentiates and ``torch.compile`` keeps as one node.

    In eager mode without gradients this is `dispatcher.sgemm`: PyTorch's own way to an operator takes longer.

    Args:
        a: float32 of shape (m, k), or (batch…, m, k), on a GPU; see `dispatcher.sgemm` for layouts.
        b: float32 of shape (k, n), or (batch…, k, n).

    Returns:
        A new tensor of shape (m, n), or (batch…, m, n).
    """
    plain = type(a) in _PLAIN and type(b) in _PLAIN  # tracers have tensors of their own
    recorded = torch.is_grad_enabled() and (a.requires_grad or b.requires_grad)
    if plain and not recorded and not torch.compiler.is_compiling():
        return dispatcher.sgemm(a, b)
    return torch.ops.autotune.sgemm(a, b)


class Linear(torch.nn.Linear):
    """``torch.nn.Linear`` in true FP32 whose products are `sgemm`'s; it takes any number of leading axes."""

    def forward(self, input: Any) -> Any:
        """X·Wᵀ + bias."""
        rows = input.reshape(-1, self.in_features)
        product = sgemm(rows, self.weight.mT).reshape(*input.shape[:-1], self.out_features)
        return product if self.bias is None else product + self.bias


def _forward(a: Any, b: Any) -> Any:
    return dispatcher.sgemm(a.detach(), b.detach())


def _fake(a: Any, b: Any) -> Any:
    """A tensor without values, of the shape that a tracer has to know."""
    return a.new_empty(torch.matmul(a, b).shape)


def _save(ctx: Any, inputs: tuple[Any, Any], output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, gradient: Any) -> tuple[Any, Any]:
    """dA = dC·Bᵀ and dB = Aᵀ·dC, summed over the batch for a matrix that all of it shares."""
    a, b = ctx.saved_tensors
    gradient = _readable(gradient)
    of_a = of_b = None
    if ctx.needs_input_grad[0]:
        of_a = torch.ops.autotune.sgemm(gradient, b.mT).sum_to_size(a.shape)
    if ctx.needs_input_grad[1]:
        if b.ndim == 2:  # one product over all rows of the batch, instead of a sum of products
            a, gradient = a.expand(*gradient.shape[:-1], a.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
            a = a.reshape(-1, a.shape[-1])
        of_b = torch.ops.autotune.sgemm(a.mT, gradient).sum_to_size(b.shape)
    return of_a, of_b


def _readable(gradient: Any) -> Any:
    """Gradients come in any strides, such as those of an expanded scalar: those that no kernel reads are copied."""
    rows, columns = gradient.stride()[-2:]
    row_major = columns == 1 and rows >= gradient.shape[-1]
    column_major = rows == 1 and columns >= gradient.shape[-2]
    return gradient if row_major or column_major else gradient.contiguous()


_OPERATOR = torch.library.custom_op(
    "autotune::sgemm", _forward, mutates_args=(), schema="(Tensor a, Tensor b) -> Tensor"
)
_OPERATOR.register_fake(_fake)
_OPERATOR.register_autograd(_backward, setup_context=_save)
