"""What users would call instead of attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.search_spaces.contract.baselines import TorchCall


def _sdpa(backend: str, torch: Any, problem: AttentionProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """By one of its kernels, which know neither sinks nor softcap, and masks only as arrays."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    windows = problem.window_left or problem.window_right
    aligned = not problem.causal or problem.top_left or problem.queries == problem.keys
    if windows or problem.softcap or problem.sinks or problem.lse or not aligned:
        raise ValueError("scaled_dot_product_attention has neither windows, softcap, sinks, lse nor the last diagonal")
    q, k, v = (tensors[name].transpose(1, 2) for name in "qkv")
    scale = problem.scalars["scale"] or None
    chosen = getattr(SDPBackend, backend)

    def compute() -> Mapping[str, Any]:
        with sdpa_kernel(chosen):
            o = scaled_dot_product_attention(
                q, k, v, is_causal=problem.causal, scale=scale, enable_gqa=problem.group > 1
            )
        return {"o": o.transpose(1, 2)}

    return compute


def _call(backend: str, name: str) -> TorchCall:
    return TorchCall(f"torch scaled_dot_product_attention by {name}", partial(_sdpa, backend))


BASELINES: Mapping[str, TorchCall | str] = {
    "cudnn": _call("CUDNN_ATTENTION", "cuDNN"),
    "flash": _call("FLASH_ATTENTION", "FlashAttention-2"),
}
