"""What users would call instead of merge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.sorting.merge.problem import MergeProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall
from autotune.search_spaces.sorting.torch_sorts import LACKING


def _sort(torch: Any, problem: MergeProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """PyTorch merges nothing: it sorts both arrays together, and always writes the indices."""
    if problem.dtype in LACKING or problem.values.is_array:
        raise NotTakenError(f"torch.sort has neither {', '.join(LACKING)} nor values")
    both, keys_out = torch.cat([tensors["a"], tensors["b"]]), tensors["keys_out"]
    indices = torch.empty(both.shape, dtype=torch.int64, device=both.device)

    def compute() -> None:
        torch.cat([tensors["a"], tensors["b"]], out=both)
        torch.sort(both, descending=problem.descending, stable=True, out=(keys_out, indices))

    return compute


BASELINES: Mapping[str, TorchCall | str] = {
    "torch": TorchCall("torch.sort of both arrays, stable", _sort),
    "cub": "bench.baselines.sorting.cub:MERGE",
    "cccl": "bench.baselines.sorting.cub:MERGE_CCCL",
}
