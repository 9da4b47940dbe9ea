"""The caller's arrays as operands of a `StridedProblem`."""

from __future__ import annotations

from autotune.codegen.model.strided import Axes

from .layouts import Layout


def stride_fields(name: str, layout: Layout, operand: str, axes: Axes, order: str = "") -> dict[str, int]:
    """The fields of a problem that say where an array is.

    Args:
        name: of the array, for messages.
        layout: of the array, which has as many axes as the operand.
        operand: the problem's.
        axes: the operand's.
        order: the axes in the order of the array's, such as ``bhsd``, if that is not the order of `axes`.

    Raises:
        ValueError: elements along the last axis that are not contiguous, a negative stride, or an axis whose elements
            are all one and that may not be broadcast.
    """
    steps = dict(zip(order or axes.order, layout.strides, strict=True))
    extents = dict(zip(order or axes.order, layout.shape, strict=True))
    empty = 0 in layout.shape  # libraries give it strides of 0, too
    apart = all(
        extents[axis] == 1 or steps[axis] > 0 or (steps[axis] == 0 and axis in axes.broadcast) for axis in axes.strided
    )
    last = axes.order[-1]
    if not empty and (not apart or (extents[last] > 1 and steps[last] != 1)):
        raise ValueError(
            f"{name} has shape {layout.shape} and strides {layout.strides}: expected contiguous elements along axis "
            f"{(order or axes.order).index(last)}, and positive strides along the others; "
            "call contiguous() first (NumPy, CuPy: ascontiguousarray)"
        )
    strides = {
        f"stride_{operand}_{axis}": steps[axis] if extents[axis] > 1 and not empty else 0 for axis in axes.strided
    }
    return strides | {f"align_{operand}": layout.alignment}
