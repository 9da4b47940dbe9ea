"""What users would call instead of map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled
from autotune.search_spaces.contract.torch_activations import GELU_APPROXIMATIONS, activated


def _gradient(torch: Any, function: Activation, z: Any, g: Any) -> Any:
    """The gradient of a function's argument, by the calls that autograd makes."""
    aten = torch.ops.aten
    if function in GELU_APPROXIMATIONS:
        return aten.gelu_backward(g, z, approximate=GELU_APPROXIMATIONS[function])
    if function is Activation.SILU:
        return aten.silu_backward(g, z)
    if function is Activation.RELU:
        return aten.threshold_backward(g, z, 0)
    if function is Activation.IDENTITY:
        return g
    raise NotTakenError(f"no call of PyTorch is stated for the derivative of {function}")


def _map(torch: Any, problem: MapProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """A call for each step, each of which rounds its results. Gradients of gated pairs are copied to their places."""
    x, y = tensors["x"], tensors["y"]

    def forward() -> Mapping[str, Any] | None:
        z, u = _parts(problem, x, tensors.get("u"))
        result = activated(torch, problem.function, z + tensors["bias"] if problem.bias else z)
        if u is not None:
            result = result * u
        if problem.residual:
            result = result + tensors["r"]
        if problem.scaled:
            result = result * tensors["scale"]
        if problem.saturate:
            result = torch.clamp(result, -problem.result.largest, problem.result.largest)
        if result is x:
            y.copy_(x)
            return None
        return {"y": result.to(y.dtype)}

    def backward() -> Mapping[str, Any] | None:
        (z, u), g = _parts(problem, x, tensors.get("u")), tensors["g"]
        z = z + tensors["bias"] if problem.bias else z
        if u is None:
            return {"y": _gradient(torch, problem.function, z, g).to(y.dtype)}
        separate = (y[: problem.rows], y[problem.rows :])
        of_z, of_u = separate if problem.gate is Gate.SEPARATE else _parts(problem, y, None)
        of_z.copy_(_gradient(torch, problem.function, z, g * u))
        of_u.copy_(g * activated(torch, problem.function, z))
        return None

    return backward if problem.backward else forward


def _parts(problem: MapProblem, rows: Any, factors: Any) -> tuple[Any, Any]:
    """Gates and factors."""
    if problem.gate is Gate.HALVES:
        return rows[:, : problem.columns], rows[:, problem.columns :]
    if problem.gate is Gate.INTERLEAVED:
        return rows[:, 0::2], rows[:, 1::2]
    return rows, factors


_EAGER = TorchCall("torch.nn.functional", _map)
BASELINES: Mapping[str, TorchCall | str] = {
    "torch": _EAGER,
    "compile": compiled(_EAGER),
    "liger": "bench.baselines.streaming.liger:MAP",
}
