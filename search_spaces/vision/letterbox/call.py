"""How users call letterbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.rule import Rule
from autotune.codegen.vision.letterbox.target import CHANNELS, DTYPES, PLACEMENT, Order
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.strides import stride_fields


def letterbox(
    images: Any,
    height: int = 640,
    width: int = 640,
    *,
    mean: Any = None,
    std: Any = None,
    pad: float = 114.0,
    scale: float = 1 / 255,
    rule: str = "cv2",
    scale_up: bool = True,
    center: bool = True,
    swap_channels: bool = True,
    dtype: DType = DType.FLOAT16,
    order: str = "nchw",
    out: Any = None,
    stream: Any = None,
) -> Any:
    """Pictures of one size, resized to fit into a target with their sides' ratio, as numbers of a network.

    A level v of a channel becomes (v · scale − mean) / std. So does `pad`, where the target is free.

    Args:
        images: uint8 of shape (images, height, width, 3), of any positive strides but for the channels, which
            are contiguous.
        height: of the target.
        width: of the target.
        mean: float32 of shape (3,), one for each channel of the target. Without it, nothing is subtracted.
        std: likewise; it is given where the mean is.
        pad: the level of what a picture leaves free.
        scale: what levels are multiplied by.
        rule: ``cv2`` for the pixels that ``cv2.resize`` makes of bytes, bit for bit; ``half_pixel`` for the same in
            float32, not rounded to whole levels; ``corner`` where the corners of pictures meet, not their pixels'
            centres. Without aliases, in float32: ``area`` for the mean of what a pixel covers, ``triangle`` and
            ``bicubic`` for PyTorch's bilinear and bicubic with ``antialias=True``.
        scale_up: whether small pictures are enlarged.
        center: whether a picture is in the middle of the target; else it is at the left and at the top.
        swap_channels: whether the channels change their order, as from BGR to RGB.
        dtype: float32, float16 or bfloat16.
        order: of the target's axes, ``nchw`` or ``nhwc``.
        out: the target and the placement as a tuple of contiguous arrays. By default new arrays of the library of
            `images`.

    Returns:
        The target, of shape (images, 3, height, width) or (images, height, width, 3), and for each picture its scale,
        and how many columns and rows of the target are free ahead of it: float32 of shape (images, 3).
    """


def _types(
    images: Layout,
    mean: Layout | None,
    std: Layout | None,
    height: int,
    width: int,
    rule: str,
    dtype: DType,
    order: str,
    **_: Any,
) -> Mapping[str, ArrayType]:
    check_dtype("letterbox", "images", images, (DType.UINT8,))
    if len(images.shape) != 4 or images.shape[-1] != CHANNELS:
        raise ValueError(f"images has shape {images.shape}: expected (images, height, width, {CHANNELS})")
    check_options(mean, std, rule, dtype, order)
    return result_types(images.shape[0], height, width, dtype, order)


def check_options(mean: Layout | None, std: Layout | None, rule: str, dtype: DType, order: str) -> None:
    """Refuse what no target is made with.

    Raises:
        TypeError: a dtype that targets do not have, or a mean without a deviation.
        ValueError: an unknown rule or order, or arrays of another shape.
    """
    if (mean is None) != (std is None):
        raise TypeError(f"mean and std: {'mean' if mean is None else 'std'} is left out; expected both or none")
    for name, array in (("mean", mean), ("std", std)):
        check_array(name, array, DType.FLOAT32, (CHANNELS,))
    if dtype not in DTYPES:
        raise TypeError(f"dtype={dtype}: expected one of {', '.join(DTYPES)}")
    for name, value, allowed in (("rule", rule, Rule), ("order", order, Order)):
        if value not in list(allowed):
            raise ValueError(f"{name}={value!r}: expected one of {', '.join(allowed)}")


def result_types(batch: int, height: int, width: int, dtype: DType, order: str) -> Mapping[str, ArrayType]:
    """Of targets and placements."""
    shape = (batch, CHANNELS, height, width) if order == Order.NCHW else (batch, height, width, CHANNELS)
    return {"target": ArrayType(shape, dtype), "placement": ArrayType((batch, PLACEMENT), DType.FLOAT32)}


def _bind(
    images: Layout,
    mean: Layout | None,
    height: int,
    width: int,
    rule: str,
    scale_up: bool,
    center: bool,
    swap_channels: bool,
    dtype: DType,
    order: str,
) -> Binding:
    problem = LetterboxProblem(
        picture_height=images.shape[1],
        picture_width=images.shape[2],
        height=height,
        width=width,
        batch=images.shape[0],
        dtype=DType(dtype),
        order=Order(order),
        rule=Rule(rule),
        swap_channels=swap_channels,
        scale_up=scale_up,
        center=center,
        normalised=mean is not None,
        **stride_fields("images", images, "images", LetterboxProblem.operands["images"]),
    )
    return Binding(problem)


CALL = Call(
    declaration=letterbox,
    inputs=("images", "mean", "std"),
    outputs=("target", "placement"),
    types=_types,
    bind=_bind,
    scalars=("pad", "scale"),
    optional=("mean", "std"),
)
