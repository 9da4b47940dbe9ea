"""gemv: what a call's arrays say of quantised weights."""

from __future__ import annotations

from math import prod

from autotune.codegen.matmul.gemv.weights import SCALE_DTYPES, Weights
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import row_major
from autotune.search_spaces.contract.layouts import MAKE_CONTIGUOUS, Layout

_QUANTISED = {str(one.stored(DType.FLOAT32)): one for one in Weights if one is not Weights.PLAIN}


def weights_of(input: Layout, weight: Layout) -> Weights:
    """What the elements of `weight` are, by its dtype."""
    if weight.dtype == input.dtype:
        return Weights.PLAIN
    quantised = _QUANTISED.get(weight.dtype)
    if quantised is None:
        expected = ", ".join([f"that of input, {input.dtype}", *_QUANTISED])
        raise TypeError(f"weight has dtype {weight.dtype}: expected {expected}")
    return quantised


def check_groups(
    weights: Weights, k: int, weight: Layout, scales: Layout | None, zeros: Layout | None, group_size: int
) -> None:
    """``ValueError`` or ``TypeError`` unless scales and zero points are those of the weights."""
    if wrong := weights.why_not_grouped(group_size):
        raise ValueError(
            f"group_size={group_size}: {wrong.replace(f'weights={weights}', f'weights of {weight.dtype}')}"
        )
    if (scales is None) != (weights is Weights.PLAIN):
        expected = "no scales" if scales else "scales"
        raise ValueError(f"weight has dtype {weight.dtype}: expected {expected}")
    if zeros is not None and weights is not Weights.INT4:
        raise ValueError(f"weight has dtype {weight.dtype}: expected no zeros, which codes of 4 bits have")
    if scales is None:
        return
    if scales.dtype not in SCALE_DTYPES:
        raise TypeError(f"scales have dtype {scales.dtype}: expected {', '.join(SCALE_DTYPES)}")
    *batch, n, _ = weight.shape
    shape = (*batch, *weights.scales_shape(n, k, group_size))
    if scales.shape != shape:
        raise ValueError(f"scales have shape {scales.shape}: expected {shape} for weight of shape {weight.shape}")
    if zeros is not None and (zeros.dtype, zeros.shape) != (DType.UINT8, shape):
        raise ValueError(f"zeros have dtype {zeros.dtype} and shape {zeros.shape}: expected uint8 of shape {shape}")


def check_groups_contiguous(name: str, layout: Layout, *, shared: bool) -> None:
    """``ValueError`` unless scales or zero points have no gaps, and are shared by a batch that shares its weights."""
    strides = row_major(layout.shape)
    batch = len(layout.shape) - 2
    if shared and prod(layout.shape[:batch]) > 1:
        strides = (0,) * batch + strides[batch:]
    axes = zip(layout.shape, layout.strides, strides, strict=True)
    if 0 not in layout.shape and any(size > 1 and step != own for size, step, own in axes):
        raise ValueError(
            f"{name} have shape {layout.shape} and strides {layout.strides}: expected strides {strides}; "
            f"{MAKE_CONTIGUOUS}"
        )
