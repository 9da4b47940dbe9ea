"""What operators ask of the arrays of a call, and how they say what is wrong."""

from __future__ import annotations

from collections.abc import Iterable

from .layouts import Layout, Shape


def check_dtype(operator: str, name: str, array: Layout, allowed: Iterable[str]) -> None:
    """``TypeError`` for a dtype that an operator does not take."""
    if array.dtype not in (dtypes := list(allowed)):
        raise TypeError(f"{name} has dtype {array.dtype}: {operator} takes {', '.join(dtypes)}")


def check_rows(operator: str, name: str, array: Layout, allowed: Iterable[str], dim: int = -1) -> None:
    """`check_dtype`; ``ValueError`` if the array has no axis, or if `dim` is not its last one."""
    check_dtype(operator, name, array, allowed)
    if not array.shape:
        raise ValueError(f"{name} has shape (): expected rows along a last axis")
    if dim not in (-1, last := len(array.shape) - 1):
        raise ValueError(f"dim={dim}: {operator} takes the last axis, -1 or {last}")


def check_alike(name: str, array: Layout | None, other: str, like: Layout) -> None:
    """``ValueError`` if an array that is given has not the dtype and the shape of another one."""
    if array is not None and (array.dtype, array.shape) != (like.dtype, like.shape):
        raise ValueError(
            f"{name} has dtype {array.dtype} and shape {array.shape}: expected those of {other}, {like.dtype} and "
            f"{like.shape}"
        )


def check_array(name: str, array: Layout | None, dtype: str, shape: Shape) -> None:
    """``ValueError`` if an array that is given has another dtype or shape."""
    if array is not None and (array.dtype, array.shape) != (dtype, shape):
        raise ValueError(f"{name} has dtype {array.dtype} and shape {array.shape}: expected {dtype} of shape {shape}")
