"""What users would call instead of cross_entropy and its backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.rows.cross_entropy.logits_problem import LogitsProblem
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled

_Tensors = Mapping[str, Any]


def _losses(torch: Any, problem: LogitsProblem, x: Any, target: Any) -> tuple[Any, Any]:
    """The losses, and log Σ exp where the problem has it; of logits in 16 bits, as models call it, in float32."""
    z, scalars = x.float(), problem.scalars
    if problem.capped:
        z = scalars["softcap"] * torch.tanh(z / scalars["softcap"])
    loss = torch.nn.functional.cross_entropy(z, target, reduction="none", label_smoothing=scalars["label_smoothing"])
    wanted = problem.z_loss or (isinstance(problem, CrossEntropyProblem) and problem.lse)
    lse: Any = torch.logsumexp(z, -1) if wanted else None
    if problem.z_loss:
        loss = loss + (target != scalars["ignore_index"]) * scalars["lse_square_scale"] * lse.square()
    return loss, lse


def _wanted(tensors: _Tensors, target: Any, ignored: float, **results: Any) -> _Tensors:
    """Those that the problem has, in its types."""
    made = {name: result for name, result in results.items() if result is not None and name in tensors}
    found = {name: result.to(tensors[name].dtype) for name, result in made.items()}
    return found | ({"lse": found["lse"].masked_fill(target == ignored, 0.0)} if "lse" in found else {})


def _autograd(torch: Any, problem: LogitsProblem, tensors: _Tensors) -> Callable[[], _Tensors]:
    """A call and its backward."""
    if problem.lse_given:
        return _backward(torch, problem, tensors)
    target = tensors["target"].long()
    x = tensors["x"].detach().requires_grad_(problem.has_gradient)

    def compute() -> _Tensors:
        loss, lse = _losses(torch, problem, x, target)
        d = None
        if problem.has_gradient:
            (d,) = torch.autograd.grad(loss, x, tensors["dloss"].expand_as(loss))
        return _wanted(tensors, target, problem.scalars["ignore_index"], loss=loss.detach(), lse=lse, d=d)

    return compute


def _backward(torch: Any, problem: LogitsProblem, tensors: _Tensors) -> Callable[[], _Tensors]:
    """What autograd calls, on what a forward pass would have left: the logarithms of softmax."""
    if problem.smoothed or problem.z_loss or problem.capped:
        raise NotTakenError("this call of PyTorch's backward knows no smoothed labels, no z-loss and no softcap")
    target, aten = tensors["target"].long(), torch.ops.aten
    output = tensors["x"].float() - tensors["lse"][:, None]
    upstream, total = tensors["dloss"].expand(problem.rows), tensors["lse"].new_zeros(())
    ignored = int(problem.scalars["ignore_index"])

    def compute() -> _Tensors:
        of_output = aten.nll_loss_backward(upstream, output, target, None, 0, ignored, total)
        return {"d": aten._log_softmax_backward_data(of_output, output, -1, output.dtype).to(tensors["d"].dtype)}

    return compute


def _formulas(torch: Any, problem: LogitsProblem, tensors: _Tensors) -> Callable[[], _Tensors]:
    """What autograd gives PyTorch's compiler: the losses, and the formula of the gradient."""
    target, scalars = tensors["target"].long(), problem.scalars
    smoothing, cap, ignored = scalars["label_smoothing"], scalars["softcap"], scalars["ignore_index"]

    def gradient() -> Any:
        z = tensors["x"].float()
        z = cap * torch.tanh(z / cap) if problem.capped else z
        # Logits around 10,000 cost the softmax no digit.
        p = torch.exp(z - tensors["lse"][:, None]) if problem.lse_given else torch.softmax(z, -1)
        if problem.z_loss:
            lse = tensors["lse"] if problem.lse_given else torch.logsumexp(z, -1)
            p = p * (1 + 2 * scalars["lse_square_scale"] * lse[:, None])
        hit = torch.arange(problem.columns, device=z.device) == target[:, None]
        dz = p - hit * (1 - smoothing) - smoothing / problem.columns
        dz = dz * tensors["dloss"].expand(problem.rows)[:, None]
        dz = dz * (1 - (z / cap).square()) if problem.capped else dz
        return torch.where((target == ignored)[:, None], 0.0, dz)

    def compute() -> _Tensors:
        loss, lse = (None, None) if problem.lse_given else _losses(torch, problem, tensors["x"], target)
        d = gradient() if problem.has_gradient else None
        return _wanted(tensors, target, ignored, loss=loss, lse=lse, d=d)

    return compute


BASELINES: Mapping[str, TorchCall | str] = {
    "torch": TorchCall("torch.nn.functional.cross_entropy of float32, and autograd", _autograd),
    "compile": compiled(TorchCall("torch.nn.functional.cross_entropy, and the formula of its gradient", _formulas)),
}
FORWARD_BASELINES = {
    **BASELINES,
    "liger": "bench.baselines.rows.liger:CROSS_ENTROPY",
    "quack": "bench.baselines.rows.quack:CROSS_ENTROPY",
}
BACKWARD_BASELINES = {**BASELINES, "quack": "bench.baselines.rows.quack:CROSS_ENTROPY_BACKWARD"}
