"""What users would call instead of attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall


def _sdpa(backend: str, torch: Any, problem: AttentionProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """By one of its kernels, which know neither sinks nor softcap, and masks only as arrays."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    windows = problem.window_left or problem.window_right
    aligned = not problem.causal or problem.top_left or problem.queries == problem.keys
    changed = problem.softcap or problem.scored or problem.masked
    if windows or changed or problem.sinks or problem.lse or not aligned:
        lacked = "windows, softcap, fragments, sinks, lse nor the last diagonal"
        raise NotTakenError(f"scaled_dot_product_attention has neither {lacked}")
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


def _fa3(torch: Any, problem: AttentionProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """FlashAttention-3, which vLLM's wheels hold, with sequences one behind the other. It takes sinks in bfloat16."""
    last = not problem.top_left or problem.queries == problem.keys
    windows = problem.window_left or problem.window_right
    if problem.lse or problem.scored or problem.masked or not last or (windows and not problem.causal):
        raise NotTakenError("FlashAttention-3 is called for the last diagonal, causal windows, no fragments and no lse")
    from vllm.vllm_flash_attn.flash_attn_interface import flash_attn_varlen_func

    q, k, v = (tensors[name].flatten(0, -3) for name in "qkv")
    even = torch.arange(problem.batch + 1, dtype=torch.int32, device=q.device)
    of_queries = tensors.get("offsets", even * problem.queries)
    of_keys = tensors.get("offsets_k", tensors.get("offsets", even * problem.keys))
    sinks = tensors["sinks"].bfloat16() if problem.sinks else None
    call = partial(
        flash_attn_varlen_func,
        *(q, k, v),
        max_seqlen_q=int(of_queries.diff().max()),
        cu_seqlens_q=of_queries,
        max_seqlen_k=int(of_keys.diff().max()),
        cu_seqlens_k=of_keys,
        softmax_scale=problem.scalars["scale"] or problem.usual_scale,
        causal=problem.causal,
        window_size=[problem.window_left - 1, 0] if problem.bounded_left else None,
        softcap=problem.scalars["softcap"],
        s_aux=sinks,
        fa_version=3,
    )
    return lambda: {"o": call().view_as(tensors["o"])}


def _call(backend: str, name: str) -> TorchCall:
    return TorchCall(f"torch scaled_dot_product_attention by {name}", partial(_sdpa, backend))


FA3 = TorchCall("FlashAttention-3, by vLLM", _fa3, needs="vllm")
BASELINES: Mapping[str, TorchCall | str] = {
    "fa3": FA3,
    "cudnn": _call("CUDNN_ATTENTION", "cuDNN"),
    "flash": _call("FLASH_ATTENTION", "FlashAttention-2"),
}
