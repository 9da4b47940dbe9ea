"""What calls of convolutions take alike: checks of their arrays, and extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autotune.codegen.convolution.problem import DTYPES, TILES
from autotune.codegen.epilogue.activation import FUSED
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.layouts import Layout

_LEAST = {"stride": 1, "padding": 0, "dilation": 1}
_SIDES = {"t": "depth", "h": "height", "w": "width"}  # of problems' fields; images without a depth have the last two


def check_convolution(
    x: Layout,
    weight: Layout,
    groups: int,
    activation: str,
    *,
    axis: int,
    allow_tf32: bool,
    allow_winograd: int,
    dtypes: Sequence[DType],
) -> None:
    """Raise `TypeError` or `ValueError` for what is not convolved; channels are an axis of images and filters."""
    if activation not in FUSED:
        raise ValueError(f"activation={activation!r}: expected one of {', '.join(FUSED)}")
    check_images({"x": x, "weight": weight}, groups, allow_tf32=allow_tf32, axes=max(4, axis + 1), dtypes=dtypes)
    if allow_winograd not in (0, *TILES):
        raise ValueError(f"allow_winograd={allow_winograd}: expected {', '.join(map(str, (0, *TILES)))}")
    if allow_winograd and (allow_tf32 or x.dtype != DType.FLOAT32):
        raise ValueError(f"allow_winograd={allow_winograd}: expected x of float32 without allow_tf32, not {x.dtype}")
    if weight.shape[axis] * groups != x.shape[axis] or weight.shape[0] % groups:
        raise ValueError(
            f"x has shape {x.shape} and weight {weight.shape}: expected channels and channels / groups along axis "
            f"{axis}, and filters along the first, with groups={groups}, which divides both"
        )


def check_operands(given: Mapping[str, tuple[Layout | None, str, tuple[int, ...]]]) -> None:
    """Raise `ValueError` for arrays that have not the dtypes, or not the shapes, beside them."""
    for name, (array, dtype, shape) in given.items():
        if array is not None and (array.dtype, array.shape) != (dtype, shape):
            raise ValueError(
                f"{name} has dtype {array.dtype} and shape {array.shape}: expected {dtype} of shape {shape}"
            )


def check_images(
    arrays: Mapping[str, Layout],
    groups: int,
    *,
    allow_tf32: bool,
    axes: int = 4,
    dtypes: Sequence[DType] = DTYPES,
) -> None:
    """Raise `TypeError` or `ValueError` for images, the first of some arrays, that no kernel convolves."""
    x = next(iter(arrays.values()))
    if x.dtype not in dtypes:
        raise TypeError(f"x has dtype {x.dtype}: expected one of {', '.join(dtypes)}")
    if allow_tf32 and x.dtype != DType.FLOAT32:
        raise ValueError(f"allow_tf32=True: expected x of float32, not {x.dtype}")
    for name, layout in arrays.items():
        if len(layout.shape) != axes:
            raise ValueError(f"{name} has shape {layout.shape}: expected {axes} axes")
    if groups < 1:
        raise ValueError(f"groups={groups}: expected 1 or more")


def extents_of(images: Layout, channels: int) -> tuple[int, ...]:
    """Rows and columns, or slices ahead of them, of images or of filters, whose channels are an axis."""
    return tuple(extent for axis, extent in enumerate(images.shape) if axis not in (0, channels))


def out_extents(
    extents: Sequence[int],
    kernel: Sequence[int],
    stride: tuple[int, ...] | int,
    padding: tuple[int, ...] | int,
    dilation: tuple[int, ...] | int,
) -> tuple[int, ...]:
    """Rows and columns of the result."""
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    steps = zip(*pairs_of(options, len(extents)).values(), strict=True)
    return tuple(
        (extent + 2 * added - step * (taps - 1) - 1) // apart + 1
        for extent, taps, (apart, added, step) in zip(extents, kernel, steps, strict=True)
    )


def fields_of(
    x: Layout, channels: int, filters: int, kernel: Sequence[int], **steps: tuple[int, ...] | int
) -> dict[str, Any]:
    """What problems have of images, whose channels are an axis, of filters, and of the steps of a convolution."""
    extents = extents_of(x, channels)
    sides = list(_SIDES)[-len(extents) :]
    several = pairs_of(steps, len(sides)) | {"kernel": tuple(kernel)}
    return {
        "batch": x.shape[0],
        "in_channels": x.shape[channels],
        "out_channels": filters,
        **{_SIDES[side]: extent for side, extent in zip(sides, extents, strict=True)},
        **{f"{name}_{side}": n for name, some in several.items() for side, n in zip(sides, some, strict=True)},
    }


def pairs_of(options: Mapping[str, Any], count: int = 2) -> dict[str, tuple[int, ...]]:
    """Stride, padding and dilation of a call, of rows and of columns, or of slices ahead of them."""
    return {name: pair(name, options[name], least, count) for name, least in _LEAST.items()}


def pair(name: str, value: tuple[int, ...] | int, least: int, count: int = 2) -> tuple[int, ...]:
    """An option of rows and of columns, or of slices ahead of them."""
    some = value if isinstance(value, tuple) else (value,)
    some = some * count if len(some) == 1 else some
    if len(some) != count or not all(isinstance(one, int) and one >= least for one in some):
        raise ValueError(f"{name}={value}: expected one number or {('two', 'three')[count - 2]}, {least} or more")
    return some
