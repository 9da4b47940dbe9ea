"""What users would call instead of a norm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.rows.norm.problem import NormProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled


def _norm(torch: Any, problem: NormProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """A sum with the residual, a norm, and the statistics that it does not return."""
    if problem.out_dtype:
        raise NotTakenError("PyTorch has no norm whose result is quantised by rows")
    eps, shape = problem.scalars["eps"], problem.normalized_shape
    x, residual = tensors["x"], tensors.get("residual")

    def normalized(total: Any) -> dict[str, Any]:
        weight, bias = tensors.get("weight"), tensors.get("bias")
        total = total.float() if problem.float32_weight else total
        if problem.centered:
            y, mean, rstd = torch.native_layer_norm(total, shape, weight, bias, eps)
            return {"y": y, "mean": mean.flatten(), "rstd": rstd.flatten()}
        y = torch.nn.functional.rms_norm(total, shape, weight, eps)
        return {"y": y, "rstd": (total.float().square().mean(-1) + eps).rsqrt()} if problem.statistics else {"y": y}

    def compute() -> Mapping[str, Any]:
        total = x if residual is None else torch.add(x, residual, out=tensors["sum"])
        found = {name: result for name, result in normalized(total).items() if name in tensors}
        return found | {"y": found["y"].to(tensors["y"].dtype)}

    return compute


_EAGER = TorchCall("torch.nn.functional.rms_norm or torch.native_layer_norm, of a sum with the residual", _norm)
RMS_BASELINES: Mapping[str, TorchCall | str] = {
    "torch": _EAGER,
    "compile": compiled(_EAGER),
    "liger": "bench.baselines.rows.liger:NORM",
    "quack": "bench.baselines.rows.quack:NORM",
}
LAYER_BASELINES = {**RMS_BASELINES, "triton": "bench.baselines.rows.triton_baseline:LAYER_NORM"}
