"""What users would call instead of transpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.search_spaces.contract.baselines import TorchCall


def _copy_transposed(torch: Any, problem: TransposeProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """As signed integers, which all of PyTorch's kernels know."""
    a, b = (tensors[name].view(getattr(torch, f"int{8 * tensors[name].itemsize}")) for name in "ab")
    return partial(b.copy_, a.transpose(1, 2))


BASELINES: Mapping[str, TorchCall | str] = {"torch": TorchCall("b.copy_(a.mT) of PyTorch", _copy_transposed)}
