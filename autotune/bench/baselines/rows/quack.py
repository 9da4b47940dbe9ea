"""The baselines ``quack``: the kernels of quack-kernels, compiled at their first launch, for each problem it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.bench.baseline import Baseline
from autotune.bench.baselines.torch_call import torch_baseline
from autotune.codegen.rows.cross_entropy.logits_problem import LogitsProblem
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.norm.problem import NormProblem
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall

_Tensors = Mapping[str, Any]
_Call = Callable[[], _Tensors | None]


def _norm(torch: Any, problem: NormProblem, tensors: _Tensors) -> _Call:
    """The launch below its layernorm_fwd, which insists on weights in float32."""
    if problem.out_dtype:
        raise NotTakenError("quack has no norm whose result is quantised by rows")
    from quack.rmsnorm import _rmsnorm_fwd

    names = ("x", "weight", "y", "bias", "rstd", "mean", "residual", "sum")
    return partial(_rmsnorm_fwd, *map(tensors.get, names), problem.scalars["eps"], problem.centered)


def _norm_backward(torch: Any, problem: NormBackwardProblem, tensors: _Tensors) -> _Call:
    if not problem.saved or not problem.weight or (problem.bias and not problem.centered):
        raise NotTakenError(
            "quack's gradients of norms take the statistics of the forward pass and a weight, and no bias"
        )
    from quack.rmsnorm import layernorm_bwd, rmsnorm_bwd

    given = [tensors[name] for name in ("x", "weight", "dy", "rstd")]

    def compute() -> _Tensors:
        if problem.centered:
            dx, dw, db = layernorm_bwd(*given, tensors["mean"], has_bias=problem.bias)
            return {"dx": dx, "dw": dw} | ({"db": db} if problem.bias else {})
        dx, dw, *_ = rmsnorm_bwd(*given)
        return {"dx": dx, "dw": dw}

    return compute


def _softmax(torch: Any, problem: SoftmaxProblem, tensors: _Tensors) -> _Call:
    if problem.log or problem.lse or problem.masked or problem.has_mask or problem.zero_rows:
        raise NotTakenError("quack's softmax has no logarithm, no lse and no mask")
    from quack.softmax import _softmax_fwd

    return partial(_softmax_fwd, tensors["x"], tensors["y"])


def _softmax_backward(torch: Any, problem: SoftmaxBackwardProblem, tensors: _Tensors) -> _Call:
    if problem.log:
        raise NotTakenError("quack has no gradient of logarithms of softmax")
    from quack.softmax import _softmax_backward as gradient

    return partial(gradient, tensors["dy"], tensors["y"], tensors["dx"])


def _refuse_losses(problem: LogitsProblem) -> None:
    if problem.smoothed or problem.z_loss or problem.capped:
        raise NotTakenError("quack's cross-entropy has no smoothed labels, no z-loss and no softcap")


def _cross_entropy(torch: Any, problem: CrossEntropyProblem, tensors: _Tensors) -> _Call:
    """One kernel for losses and gradient, which lacks the factor dloss."""
    _refuse_losses(problem)
    from quack.cross_entropy import cross_entropy_fwd_out

    x, target, loss, lse, d = map(tensors.get, ("x", "target", "loss", "lse", "d"))
    ignored = int(problem.scalars["ignore_index"])
    return partial(cross_entropy_fwd_out, x, target, None, loss, lse, d, None, ignored)


def _cross_entropy_backward(torch: Any, problem: LogitsProblem, tensors: _Tensors) -> _Call:
    _refuse_losses(problem)
    from quack.cross_entropy import cross_entropy_bwd_out

    dloss = tensors["dloss"].expand(problem.rows).contiguous()
    given = (tensors["x"], tensors["target"], dloss, tensors["lse"], tensors["d"])
    return partial(cross_entropy_bwd_out, *given, None, int(problem.scalars["ignore_index"]))


def _baseline(what: str, bind: Callable[[Any, Any, _Tensors], Callable[[], Any]], *, verified: bool = True) -> Baseline:
    packages = ("nvidia-cutlass-dsl",)
    call = TorchCall(f"quack's {what}", bind, packages=packages, verified=verified, needs="quack-kernels")
    return torch_baseline("quack", call)


NORM = _baseline("rms_norm or layer_norm", _norm)
NORM_BACKWARD = _baseline("gradients of rms_norm or layer_norm", _norm_backward)
SOFTMAX = _baseline("softmax", _softmax)
SOFTMAX_BACKWARD = _baseline("gradient of softmax", _softmax_backward)
CROSS_ENTROPY = _baseline("cross-entropy", _cross_entropy, verified=False)
CROSS_ENTROPY_BACKWARD = _baseline("gradient of cross-entropy", _cross_entropy_backward)
