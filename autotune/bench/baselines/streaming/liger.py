"""The baseline ``liger`` of map: gated pairs by Liger-Kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.bench.baselines.torch_call import torch_baseline
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall


def _map(torch: Any, problem: MapProblem, tensors: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
    """Its gradients of separate pairs take the place of what they are read from, so they are left out."""
    further = problem.bias or problem.residual or problem.scaled or problem.result is not problem.dtype
    chosen = (problem.function, problem.gate, problem.backward)
    if further or chosen not in _KINDS:
        raise NotTakenError(
            "Liger has SwiGLU of pairs and of halves, GEGLU by tanh of pairs, and the gradient of halves"
        )
    from liger_kernel.ops.geglu import geglu_forward
    from liger_kernel.ops.swiglu import swiglu_forward, swiglu_fused_gate_up_backward, swiglu_fused_gate_up_forward

    x = tensors["x"]
    if problem.backward:
        return lambda: {"y": swiglu_fused_gate_up_backward(x, tensors["g"])}
    if problem.gate is Gate.HALVES:
        return lambda: {"y": swiglu_fused_gate_up_forward(x)[1]}
    pairs = geglu_forward if problem.function is Activation.GELU_TANH else swiglu_forward
    return lambda: {"y": pairs(x, tensors["u"])[2]}


_KINDS = (
    (Activation.SILU, Gate.SEPARATE, False),
    (Activation.GELU_TANH, Gate.SEPARATE, False),
    (Activation.SILU, Gate.HALVES, False),
    (Activation.SILU, Gate.HALVES, True),
)
MAP = torch_baseline("liger", TorchCall("Liger-Kernel's SwiGLU or GEGLU", _map, needs="liger-kernel"))
