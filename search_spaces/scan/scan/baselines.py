"""What users would call instead of scan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall

_NAMES = {
    Operation.SUM: "cumsum",
    Operation.PRODUCT: "cumprod",
    Operation.MAX: "cummax",
    Operation.MIN: "cummin",
}


def _scan(torch: Any, problem: ScanProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """A reverse scan flips x and y; an exclusive one leaves out the last element, and begins behind the first."""
    if problem.segmented or problem.init:
        raise NotTakenError("PyTorch has no scan of segments or with an initial value")
    x, y = tensors["x"], tensors["y"]
    if problem.exclusive:
        x, y = (x[:, 1:], y[:, :-1]) if problem.reverse else (x[:, :-1], y[:, 1:])
        first = tensors["y"][:, -1] if problem.reverse else tensors["y"][:, 0]
        run = _inclusive(torch, problem, x, y)

        def compute() -> None:
            first.fill_(problem.identity)
            run()

        return compute
    return _inclusive(torch, problem, x, y)


def _inclusive(torch: Any, problem: ScanProblem, x: Any, y: Any) -> Callable[[], Any]:
    if problem.op in (Operation.MAX, Operation.MIN):
        indices = torch.empty(x.shape, dtype=torch.int64, device=x.device)
        run = partial(getattr(torch, _NAMES[problem.op]), dim=-1)
        if problem.reverse:
            return lambda: y.copy_(torch.flip(run(torch.flip(x, (-1,))).values, (-1,)))
        return partial(run, x, out=(y, indices))
    run = partial(getattr(torch, _NAMES[problem.op]), dim=-1, dtype=y.dtype)
    if problem.reverse:
        return lambda: y.copy_(torch.flip(run(torch.flip(x, (-1,))), (-1,)))
    return partial(run, x, out=y)


BASELINES: Mapping[str, TorchCall | str] = {
    "torch": TorchCall("torch.cumsum, torch.cumprod, torch.cummax, torch.cummin", _scan),
    "cub": "bench.baselines.scan.cub:CUB",
}
