"""What users would call instead of attention_backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall


def _operands(problem: AttentionBackwardProblem, tensors: Mapping[str, Any]) -> list[Any]:
    """dout, q, k, v and o with heads ahead of rows.

    Raises:
        ValueError: PyTorch's kernels do not compute it: they have no sinks, nothing that changes scores, and masks only
            as arrays.
    """
    windows = problem.window_left or problem.window_right
    aligned = not problem.causal or problem.top_left or problem.queries == problem.keys
    changed = problem.softcap or problem.scored or problem.masked
    if windows or changed or problem.sinks or not aligned:
        lacked = "windows, softcap, fragments, sinks nor the last diagonal"
        raise NotTakenError(f"scaled_dot_product_attention has neither {lacked}")
    return [tensors[name].transpose(1, 2) for name in ("dout", "q", "k", "v", "o")]


def _gradients(found: tuple[Any, ...]) -> Mapping[str, Any]:
    return {name: one.transpose(1, 2) for name, one in zip(("dq", "dk", "dv"), found, strict=False)}


def _cudnn(torch: Any, problem: AttentionBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """What autograd calls, with the state that the forward pass leaves."""
    dout, q, k, v, o = _operands(problem, tensors)
    aten, causal, scale = torch.ops.aten, problem.causal, problem.scalars["scale"] or None
    _, _, cum_q, cum_k, most_q, most_k, seed, offset, _ = aten._scaled_dot_product_cudnn_attention(
        q, k, v, None, True, 0.0, causal, False, scale=scale
    )
    lse = tensors["lse"].unsqueeze(-1)
    given = dout, q, k, v, o, lse, seed, offset, None, cum_q, cum_k, most_q, most_k, 0.0, causal
    backward = aten._scaled_dot_product_cudnn_attention_backward
    return lambda: _gradients(backward(*given, scale=scale))


def _flash(torch: Any, problem: AttentionBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """The same by FlashAttention-2, which has causal windows besides."""
    if problem.causal and problem.window_left:
        return _flash_window(torch, problem, tensors)
    dout, q, k, v, o = _operands(problem, tensors)
    aten, causal, scale = torch.ops.aten, problem.causal, problem.scalars["scale"] or None
    _, _, cum_q, cum_k, most_q, most_k, seed, offset, _ = aten._scaled_dot_product_flash_attention(
        q, k, v, 0.0, causal, False, scale=scale
    )
    given = dout, q, k, v, o, tensors["lse"], cum_q, cum_k, most_q, most_k, 0.0, causal, seed, offset
    backward = aten._scaled_dot_product_flash_attention_backward
    return lambda: _gradients(backward(*given, scale=scale))


def _flash_window(torch: Any, problem: AttentionBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """What scaled_dot_product_attention would call, if it knew windows; FlashAttention counts none for the diagonal."""
    _operands(replace(problem, window_left=0), tensors)
    dout, q, k, v, o = (tensors[name] for name in ("dout", "q", "k", "v", "o"))
    sizes, stated = (problem.queries, problem.keys, 0.0, True), {"scale": problem.scalars["scale"] or None}
    window = {"window_size_left": problem.window_left - 1, "window_size_right": 0}
    _, _, seed, offset, _ = torch.ops.aten._flash_attention_forward(
        q, k, v, None, None, *sizes, False, **stated, **window
    )
    given = dout, q, k, v, o, tensors["lse"], None, None, *sizes, seed, offset
    backward = torch.ops.aten._flash_attention_backward
    return lambda: dict(zip(("dq", "dk", "dv"), backward(*given, **stated, **window), strict=True))


_SUMMARY = "what torch's autograd calls for scaled_dot_product_attention by"
BASELINES: Mapping[str, TorchCall | str] = {
    "cudnn": TorchCall(f"{_SUMMARY} cuDNN", _cudnn),
    "flash": TorchCall(f"{_SUMMARY} FlashAttention-2", _flash),
}
