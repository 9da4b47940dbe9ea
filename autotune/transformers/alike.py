"""Whether a function computes what another one does, as a trial on random inputs says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_DTYPES = (torch.bfloat16, torch.float16, torch.float32)
_ROUNDINGS = 8  # of the largest result, by which results may differ


def unusable(module: Any) -> str:
    """Why a layer's parameters are of no use to operators; empty if they are."""
    parameter = next(module.parameters(), None)
    if parameter is None or parameter.dtype not in _DTYPES or parameter.is_meta:
        return "its parameters are neither bfloat16, float16 nor float32 in memory"
    return ""


def difference(
    module: Any, own: Callable[..., Any], other: Callable[..., Any], inputs: Callable[[Any], tuple[Any, ...]]
) -> str:
    """Why another function is none of a layer's; empty if their results agree.

    Args:
        module: the layer.
        own: its function.
        other: the other one.
        inputs: makes random ones of the dtype and on the device of a parameter.
    """
    if why := unusable(module):
        return why
    arguments = inputs(next(module.parameters()))
    with torch.no_grad():
        try:
            expected, found = (
                result if isinstance(result := one(*arguments), tuple) else (result,) for one in (own, other)
            )
        except (RuntimeError, TypeError, ValueError) as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]
    if [(one.shape, one.dtype) for one in expected] != [(one.shape, one.dtype) for one in found]:
        return "results of another shape or type"
    return "" if all(map(_agree, expected, found)) else "other results"


def _agree(own: Any, other: Any) -> bool:
    most = own.float().abs().max()
    allowed = max(_ROUNDINGS * torch.finfo(own.dtype).eps, 1e-5) * most
    return bool((own.float() - other.float()).abs().max() <= allowed)
