"""What users would call instead of radix_sort."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall
from autotune.search_spaces.sorting.torch_sorts import LACKING


def _sort(torch: Any, problem: RadixSortProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """PyTorch always writes the indices, as int64; values of an array are gathered by them."""
    if problem.cut or problem.dtype in LACKING or problem.values is Values.BYTES16:
        raise NotTakenError(f"torch.sort has neither {', '.join(LACKING)} nor bits of keys nor values of 16 bytes")
    keys, written = tensors["keys"], tensors.get("values_out")
    keys_out = torch.empty_like(keys) if problem.order_only else tensors["keys_out"]
    own = problem.values is Values.INDEX64
    indices = written if own else torch.empty(keys.shape, dtype=torch.int64, device=keys.device)
    signed = getattr(
        torch, f"int{8 * problem.values.bytes}", None
    )  # PyTorch gathers no unsigned ones of 2 bytes or more

    def compute() -> None:
        torch.sort(keys, dim=-1, descending=problem.descending, stable=True, out=(keys_out, indices))
        if problem.values.is_array:
            torch.gather(tensors["values"].view(signed), -1, indices, out=tensors["values_out"].view(signed))
        elif written is not None and not own:
            written.copy_(indices)

    return compute


def _flag_gems(torch: Any, problem: RadixSortProblem, tensors: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
    """FlagGems writes keys and indices, as PyTorch does, to new arrays."""
    if problem.cut or problem.dtype in LACKING or problem.values is not Values.INDEX64 or problem.order_only:
        raise NotTakenError(f"FlagGems sorts keys of other types than {', '.join(LACKING)}, with indices of int64")
    from flag_gems.ops.sort import sort_stable

    def compute() -> Mapping[str, Any]:
        keys, indices = sort_stable(tensors["keys"], stable=True, dim=-1, descending=problem.descending)
        return {"keys_out": keys, "values_out": indices}

    return compute


BASELINES: Mapping[str, TorchCall | str] = {
    "torch": TorchCall("torch.sort, stable", _sort),
    "cub": "bench.baselines.sorting.cub:RADIX_SORT",
    "cccl": "bench.baselines.sorting.cub:RADIX_SORT_CCCL",
    "flag_gems": TorchCall("flag_gems.sort, in Triton", _flag_gems, needs="flag-gems"),
}
