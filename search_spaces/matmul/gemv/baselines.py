"""What users would call instead of gemv."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall
from autotune.search_spaces.contract.torch_activations import activated


def _linear(torch: Any, problem: GemvProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """One call for the product and the bias; one more for an activation, and to add what y holds to either.

    Raises:
        ValueError: W is quantised.
    """
    if problem.quantised:
        raise NotTakenError(f"PyTorch rounds dequantised {problem.weights} weights to {problem.dtype}")
    x, w, y, bias = tensors["x"], tensors["w"], tensors["y"], tensors.get("bias")
    alpha, beta = problem.scalars["alpha"], problem.scalars["beta"]
    right = w.mT if problem.order is WeightOrder.NK else w
    if problem.batch > 1:
        multiply, target = partial(torch.baddbmm, batch1=x, batch2=right, alpha=alpha), y
    elif problem.m == 1:
        multiply, target = partial(torch.addmv, mat=right[0].mT, vec=x[0, 0], alpha=alpha), y[0, 0]
    else:
        multiply, target = partial(torch.addmm, mat1=x[0], mat2=right[0], alpha=alpha), y[0]
    if bias is None and problem.activation is Activation.IDENTITY:
        return partial(multiply, target, beta=beta, out=target)

    def compute() -> None:
        z = multiply(target, beta=0) if bias is None else multiply(bias)
        z = activated(torch, problem.activation, z)
        if problem.beta_nonzero:
            torch.add(z, target, alpha=beta, out=target)
        else:
            target.copy_(z)

    return compute


BASELINES: Mapping[str, TorchCall | str] = {
    "torch": TorchCall("torch.addmv, torch.addmm or torch.baddbmm, and a call for each further step", _linear)
}
