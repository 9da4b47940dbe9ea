"""What users would call instead of attention_decode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.indices import Spread
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall

_FA3_DIM = 256
_MLA = 576, 512, 64  # elements of keys and of values, and places of a page


def _flash_mla(torch: Any, problem: AttentionDecodeProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """FlashMLA, which vLLM's wheels hold; which block has which keys is decided by its first call alone."""
    usual = not (problem.window_left or problem.window_right or problem.softcap or problem.sinks or problem.lse)
    if not (problem.latent and usual) or (problem.head_dim, problem.value_elements, problem.page) != _MLA:
        raise NotTakenError(
            "FlashMLA is called for latent keys of 576 elements in pages of 64, without windows and lse"
        )
    import_module("vllm._flashmla_C")  # makes its operators known to PyTorch
    decode = torch.ops._flashmla_C.dense_decode_fwd
    lengths = torch.full((problem.batch,), problem.keys, dtype=torch.int32, device=tensors["q"].device)
    lengths = lengths if problem.full else tensors["lengths"]
    scale = problem.scalars["scale"] or problem.usual_scale
    call = partial(
        decode, tensors["q"], tensors["k"], problem.value_elements, lengths, tensors["table"], scale, problem.causal
    )
    _, _, *planned = call(None, None, None)
    return lambda: {"o": call(*planned, None)[0]}


def _fa3(torch: Any, problem: AttentionDecodeProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """FlashAttention-3, which vLLM's wheels hold. A cache without pages has one page for each request."""
    windows = problem.queries > 1 and (problem.window_left or problem.window_right)
    if problem.latent or max(problem.head_dim, problem.value_elements) > _FA3_DIM:
        raise NotTakenError(
            f"FlashAttention-3 is called for values of their own, and heads of {_FA3_DIM} elements at most"
        )
    if problem.quantised or problem.lse or problem.top_left or (windows and not problem.causal):
        raise NotTakenError(
            "FlashAttention-3 is called for numbers, the last diagonal, causal windows and no lse alone"
        )
    from vllm.vllm_flash_attn.flash_attn_interface import flash_attn_varlen_func

    q = tensors["q"].flatten(0, 1)
    numbers = partial(torch.arange, dtype=torch.int32, device=q.device)
    lengths = torch.full_like(numbers(problem.batch), problem.keys) if problem.full else tensors["lengths"]
    call = partial(
        flash_attn_varlen_func,
        *(q, tensors["k"], tensors["v"]),
        max_seqlen_q=problem.queries,
        cu_seqlens_q=numbers(problem.batch + 1) * problem.queries,
        max_seqlen_k=problem.keys,
        seqused_k=lengths,
        block_table=tensors["table"] if problem.page else numbers(problem.batch)[:, None],
        softmax_scale=problem.scalars["scale"] or problem.usual_scale,
        causal=problem.causal,
        window_size=[problem.window_left - 1, 0] if problem.bounded_left else None,
        softcap=problem.scalars["softcap"],
        s_aux=tensors["sinks"].bfloat16() if problem.sinks else None,
        fa_version=3,
    )
    return lambda: {"o": call().view_as(tensors["o"])}


def _sdpa(torch: Any, problem: AttentionDecodeProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """By the kernel that it chooses. It knows no pages, and that lengths differ only by a mask."""
    from torch.nn.functional import scaled_dot_product_attention

    bounded = problem.bounded_left or (problem.bounded_right and problem.queries > 1)
    even = problem.full or problem.spread is Spread.EVEN
    more = problem.latent or problem.quantised or problem.softcap or problem.sinks or problem.lse
    if more or problem.page or not even or bounded:
        raise NotTakenError(
            "scaled_dot_product_attention is called for requests of equal lengths without pages and masks"
        )
    q, k, v = (tensors[name].transpose(1, 2) for name in "qkv")
    scale = problem.scalars["scale"] or None

    def compute() -> Mapping[str, Any]:
        o = scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=problem.group > 1)
        return {"o": o.transpose(1, 2)}

    return compute


BASELINES: Mapping[str, TorchCall | str] = {
    "fa3": TorchCall("FlashAttention-3, by vLLM", _fa3, needs="vllm"),
    "flashinfer": "bench.baselines.attention.flashinfer:DECODE",
    "flashmla": TorchCall("FlashMLA, by vLLM", _flash_mla, needs="vllm"),
    "torch": TorchCall("torch scaled_dot_product_attention", _sdpa),
}
