"""What users would call instead of reduce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled

_NAMES = {Operation.MAX: "amax", Operation.MIN: "amin"}  # others are called as here


def _reduce(torch: Any, problem: ReduceProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """All elements are one row. Segments are not checked: that would wait for the GPU."""
    x, other, dim, y = tensors["x"], tensors.get("other"), 0 if problem.axis is Axis.FIRST else 1, tensors["y"]
    if problem.axis is Axis.SEGMENTS:
        if problem.op not in _OF_SEGMENTS or not problem.dtype.is_float:
            raise NotTakenError(f"PyTorch has no {problem.op} of segments of {problem.dtype}")
        segments = partial(torch.segment_reduce, x[0], str(problem.op), offsets=tensors["offsets"], unsafe=True)
        return lambda: y.copy_(segments())
    if problem.op is Operation.DOT:
        return partial(torch.linalg.vecdot, x, other, dim=dim, out=y)
    if problem.op is Operation.DIST:
        return lambda: torch.linalg.vector_norm(x - other, dim=dim, out=y)
    function = (
        torch.linalg.vector_norm if problem.op is Operation.L2 else getattr(torch, _NAMES.get(problem.op, problem.op))
    )
    return partial(function, x, dim=dim, out=y)


_OF_SEGMENTS = (Operation.SUM, Operation.MEAN, Operation.MAX, Operation.MIN)
_EAGER = TorchCall(
    "torch.sum, mean, linalg.vector_norm, linalg.vecdot, amax, amin, argmax, argmin, segment_reduce",
    _reduce,
)
BASELINES: Mapping[str, TorchCall | str] = {
    "torch": _EAGER,
    "compile": compiled(_EAGER),
    "cub": "bench.baselines.rows.cub_reduce:CUB",
}
