"""The baselines ``liger``: what Liger-Kernel launches, for each kind of problem that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.bench.baseline import Baseline
from autotune.bench.baselines.torch_call import torch_baseline
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.norm.problem import NormProblem
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall

_Tensors = Mapping[str, Any]
_Call = Callable[[], _Tensors | None]
_ROUNDED_ONCE = "gemma"  # how Liger names a norm that rounds nothing but its result


def _norm(torch: Any, problem: NormProblem, tensors: _Tensors) -> _Call:
    x, weight, eps = tensors["x"], tensors.get("weight"), problem.scalars["eps"]
    if problem.out_dtype or problem.float32_weight:
        raise NotTakenError("Liger has no norm whose result or weight has another type")
    if problem.centered:
        if weight is None or problem.residual or "bias" not in tensors:
            raise NotTakenError("Liger's layer_norm has a weight and a bias, and no residual")
        from liger_kernel.ops.layer_norm import layer_norm_forward

        def centered() -> _Tensors:
            y, _, mean, rstd, *_ = layer_norm_forward(x, weight, tensors["bias"], eps)
            return _those_of(tensors, y=y, mean=mean, rstd=rstd)

        return centered
    from liger_kernel.ops.fused_add_rms_norm import fused_add_rms_norm_forward
    from liger_kernel.ops.rms_norm import rms_norm_forward

    def plain() -> _Tensors:
        if problem.residual:
            y, total, rstd, *_ = fused_add_rms_norm_forward(x, tensors["residual"], weight, eps, 0.0, _ROUNDED_ONCE)
            return _those_of(tensors, y=y, sum=total, rstd=rstd)
        y, _, rstd, *_ = rms_norm_forward(x, weight, eps, 0.0, _ROUNDED_ONCE, row_mode=None)
        return _those_of(tensors, y=y, rstd=rstd)

    return plain


def _norm_backward(torch: Any, problem: NormBackwardProblem, tensors: _Tensors) -> _Call:
    if not problem.saved or not problem.weight or problem.float32_weight:
        raise NotTakenError(
            "Liger's gradients of norms take the statistics of the forward pass and a weight of x's type"
        )
    x, dy, weight, rstd = (tensors[name] for name in ("x", "dy", "weight", "rstd"))
    if problem.centered:
        from liger_kernel.ops.layer_norm import layer_norm_backward

        def centered() -> _Tensors:
            found = layer_norm_backward(dy, x, weight, weight, tensors["mean"], rstd)  # which does not read the bias
            return _those_of(tensors, **dict(zip(("dx", "dw", "db"), found, strict=True)))

        return centered
    from liger_kernel.ops.rms_norm import _str_to_casting_mode, rms_norm_backward
    from liger_kernel.ops.utils import calculate_settings

    block, warps = calculate_settings(problem.columns)
    casting = _str_to_casting_mode[_ROUNDED_ONCE]

    def plain() -> _Tensors:
        dx, dw = rms_norm_backward(dy, x, weight, rstd, 0.0, casting, block, warps, in_place=False, row_mode=None)
        return _those_of(tensors, dx=dx, dw=dw)

    return plain


def _softmax(torch: Any, problem: SoftmaxProblem, tensors: _Tensors) -> _Call:
    if problem.log or problem.lse or problem.masked or problem.has_mask or problem.zero_rows:
        raise NotTakenError("Liger's softmax has no logarithm, no lse and no mask")
    from liger_kernel.ops.softmax import _softmax_forward

    return lambda: {"y": _softmax_forward(tensors["x"])[0]}


def _softmax_backward(torch: Any, problem: SoftmaxBackwardProblem, tensors: _Tensors) -> _Call:
    if problem.log:
        raise NotTakenError("Liger has no gradient of logarithms of softmax")
    from liger_kernel.ops.softmax import _softmax_backward as gradient
    from liger_kernel.ops.utils import calculate_settings

    block, warps = calculate_settings(problem.columns)
    several = problem.columns > block
    return lambda: {"dx": gradient(tensors["dy"], tensors["y"], block, warps, several)}


def _cross_entropy(torch: Any, problem: CrossEntropyProblem, tensors: _Tensors) -> _Call:
    """The kernel without its call, which reads back from the device how many targets count.

    Its gradient, which lacks the factor dloss, takes the place of the logits, as zeros do where targets are ignored: it
    gets logits of its own. From the second launch on these are changed: the kernel does the same whatever it reads.
    """
    if problem.lse:
        raise NotTakenError("Liger's cross-entropy has no lse")
    from liger_kernel.ops.cross_entropy import MAX_FUSED_SIZE, liger_cross_entropy_kernel

    x, scalars = tensors["x"].clone(), problem.scalars
    block = min(MAX_FUSED_SIZE, 1 << max(0, problem.columns - 1).bit_length())

    def compute() -> None:
        tensors["loss"].zero_()  # where targets are ignored, the kernel stores nothing
        liger_cross_entropy_kernel[(problem.rows,)](
            X_ptr=x,
            X_stride=x.stride(0),
            Y_ptr=tensors["target"],
            Y_stride=1,
            weight_ptr=None,
            loss_ptr=tensors["loss"],
            z_loss_ptr=None,
            loss_stride=1,
            token_accuracy_ptr=None,
            token_accuracy_stride=0,
            predicted_tokens_ptr=None,
            predicted_tokens_stride=0,
            n_cols=problem.columns,
            n_non_ignore=problem.rows,
            sum_non_ignore_weight=problem.rows,
            ignore_index=int(scalars["ignore_index"]),
            weight_sum=0.0,
            lse_square_scale=scalars["lse_square_scale"],
            label_smoothing=scalars["label_smoothing"],
            reduction="none",
            softcap=scalars["softcap"] if problem.capped else None,
            RETURN_Z_LOSS=False,
            RETURN_TOKEN_ACCURACY=False,
            RETURN_PREDICTED_TOKENS=False,
            BLOCK_SIZE=block,
            HAS_WEIGHT=False,
            HAS_SOFTCAPPING=problem.capped,
            HAS_GRADIENTS=problem.has_gradient,
            num_warps=32,
        )

    return compute


def _those_of(tensors: _Tensors, **results: Any) -> _Tensors:
    return {name: result for name, result in results.items() if name in tensors}


def _baseline(what: str, bind: Callable[[Any, Any, _Tensors], Callable[[], Any]], *, verified: bool = True) -> Baseline:
    call = TorchCall(f"Liger-Kernel's {what}", bind, verified=verified, needs="liger-kernel")
    return torch_baseline("liger", call)


NORM = _baseline("rms_norm, fused_add_rms_norm or layer_norm", _norm)
NORM_BACKWARD = _baseline("gradients of rms_norm or layer_norm", _norm_backward)
SOFTMAX = _baseline("softmax", _softmax)
SOFTMAX_BACKWARD = _baseline("gradient of softmax", _softmax_backward)
# It subtracts logits from log sums of all sizes: around 10,000 that costs its losses half of their digits.
CROSS_ENTROPY = _baseline("cross-entropy", _cross_entropy, verified=False)
