"""How users call letterbox_mixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.vision.letterbox.rule import Rule
from autotune.codegen.vision.letterbox.target import Order
from autotune.codegen.vision.letterbox_mixed.problem import ENTRY, MixedProblem
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.vision.letterbox.call import check_options, result_types


def letterbox_mixed(
    images: Any,
    table: Any,
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
    """``letterbox`` of pictures of many sizes, which a table on the device states: one launch, which a graph captures.

    A picture whose entry does not lie within `images`, or has no pixels, is empty: its target is `pad` throughout, and
    its placement 0.

    Args:
        images: uint8 of one axis, contiguous: the bytes of all pictures.
        table: int64 of shape (pictures, 4), contiguous: of each picture the byte where it begins, its height, its
            width, both at most 2²⁴, and the bytes from one row to the next, at least three times its width.
        height: of the target.
        width: of the target.
        mean: see ``letterbox``, as for all that follow.
        std: given where the mean is.
        pad: the level of what a picture leaves free.
        scale: what levels are multiplied by.
        rule: which pixels make one.
        scale_up: whether small pictures are enlarged.
        center: whether a picture is in the middle of the target.
        swap_channels: whether the channels change their order.
        dtype: float32, float16 or bfloat16.
        order: of the target's axes, ``nchw`` or ``nhwc``.
        out: the target and the placement as a tuple of contiguous arrays. By default new arrays of the library of
            `images`.

    Returns:
        The target and the placement, as of ``letterbox``.
    """


def _types(
    images: Layout,
    table: Layout,
    mean: Layout | None,
    std: Layout | None,
    height: int,
    width: int,
    rule: str,
    dtype: DType,
    order: str,
    **_: Any,
) -> Mapping[str, ArrayType]:
    check_dtype("letterbox_mixed", "images", images, (DType.UINT8,))
    if len(images.shape) != 1:
        raise ValueError(f"images has shape {images.shape}: expected (bytes,), and a table of where each picture is")
    if len(table.shape) != 2:
        raise ValueError(f"table has shape {table.shape}: expected (pictures, {ENTRY})")
    check_array("table", table, DType.INT64, (table.shape[0], ENTRY))
    check_options(mean, std, rule, dtype, order)
    return result_types(table.shape[0], height, width, dtype, order)


def _bind(
    images: Layout,
    table: Layout,
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
    problem = MixedProblem(
        bytes=images.shape[0],
        height=height,
        width=width,
        batch=table.shape[0],
        dtype=DType(dtype),
        order=Order(order),
        rule=Rule(rule),
        swap_channels=swap_channels,
        scale_up=scale_up,
        center=center,
        normalised=mean is not None,
    )
    return Binding(problem)


CALL = Call(
    declaration=letterbox_mixed,
    inputs=("images", "table", "mean", "std"),
    outputs=("target", "placement"),
    types=_types,
    bind=_bind,
    scalars=("pad", "scale"),
    optional=("mean", "std"),
)
