"""What users would call instead of dropout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.streaming.dropout.problem import DropoutProblem, Mask
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled


def _dropout(torch: Any, problem: DropoutProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """A call for each of bias, dropout and residual."""
    if problem.mask is Mask.BITS:
        raise NotTakenError("PyTorch has no dropout with a mask of bits")
    p, x, bias, residual = problem.scalars["p"], tensors["x"], tensors.get("bias"), tensors.get("r")

    def compute() -> Any:
        shifted = x if bias is None else x + bias
        if problem.mask is Mask.BYTES:
            y, mask = torch.native_dropout(shifted, p, True)
        else:
            y, mask = torch.nn.functional.dropout(shifted, p), None
        return y if residual is None else y + residual, mask

    return compute


_EAGER = TorchCall("torch.nn.functional.dropout", _dropout, verified=False, replayed=False)
BASELINES: Mapping[str, TorchCall | str] = {"torch": _EAGER, "compile": compiled(_EAGER)}
