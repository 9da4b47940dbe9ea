"""The scales of a call of gemm: which there are, and how they have to lie."""

from __future__ import annotations

from math import prod

from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.numbers import SCALE_BLOCK
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.layouts import Layout


def scales_of(a: Layout, b: Layout, scale_a: Layout | None, scale_b: Layout | None) -> Scales:
    """What the shapes of the scales say.

    Raises:
        TypeError: they are not float32, or `a` has not 8 bits.
        ValueError: only one of them is there, or their shapes are others.
    """
    if scale_a is None or scale_b is None:
        if scale_a is not scale_b:
            raise ValueError("one of scale_a and scale_b is given: expected both")
        return Scales.NONE
    if DType(a.dtype).bits != 8 or {scale_a.dtype, scale_b.dtype} != {DType.FLOAT32}:
        raise TypeError(
            f"scales have dtypes {scale_a.dtype} and {scale_b.dtype}, for a of {a.dtype}: expected float32, for 8 bits"
        )
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    terms, columns = -(-k // SCALE_BLOCK), -(-n // SCALE_BLOCK)
    if prod(scale_a.shape) == prod(scale_b.shape) == 1:
        return Scales.TENSOR
    if scale_a.shape in ((m,), (m, 1)) and scale_b.shape in ((n,), (1, n)):
        return Scales.ROW
    if (scale_a.shape, scale_b.shape) == ((m, terms), (terms, columns)):
        return Scales.BLOCK
    raise ValueError(
        f"scale_a has shape {scale_a.shape} and scale_b {scale_b.shape}: expected one element each, "
        f"{(m,)} and {(n,)}, or {(m, terms)} and {(terms, columns)}"
    )


def check_scales(scales: Scales, scale_a: Layout | None, scale_b: Layout | None, *, out_transposed: bool) -> None:
    """``ValueError`` if they do not lie as a kernel reads them."""
    if scale_a is None or scale_b is None:
        return
    if scales is Scales.BLOCK and out_transposed:
        raise ValueError("out is column-major: expected a row-major result with scales of blocks")
    transposed = scale_b._replace(shape=scale_b.shape[::-1], strides=scale_b.strides[::-1])
    for name, layout in (("scale_a", scale_a), ("scale_b", transposed)):
        step = 1
        for count, stride in zip(reversed(layout.shape), reversed(layout.strides), strict=True):
            if count > 1 and stride != step:
                view = "the transposed view of scale_b" if name == "scale_b" else name
                raise ValueError(f"{view} has shape {layout.shape}, strides {layout.strides}: expected it contiguous")
            step *= count
