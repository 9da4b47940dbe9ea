"""Problems whose rows or matrices lie so far apart that offsets take more than 31 bits, on a few pages of memory."""

import mmap
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from autotune import emulator
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.verification import compare, exactly, poisoned, scale_name

P = TypeVar("P", bound=Problem)

_MAP_NORESERVE = 0x4000  # of Linux: pages take memory when they are touched
_STEP = 16  # elements: the widest vectors of any element are aligned to that
_FAR = (2**31 - _STEP, 2**31 + _STEP, 2**33 + _STEP)
_MOST_BYTES = 1 << 41  # from the first to the last element of a tensor


def wide_layouts(problem: P) -> Iterator[P]:
    """The problem with all rows as far apart, or all parts along another axis."""
    depth = max((len(stated.fields) for stated in problem.layouts.values()), default=0)
    for far in _FAR:
        for number in range(1, depth + 1):
            wide = problem
            for operand in problem.layouts:
                wide = spread(wide, operand, number, far)
            if wide != problem:
                yield wide


def spread(problem: P, operand: str, number: int, stride: int) -> P:
    """The problem with parts of an operand that far apart, all else behind each other; itself if that cannot be.

    Args:
        problem, operand: which one.
        number: of the axis, from the last one that has a stride.
        stride: elements.
    """
    stated = problem.layouts[operand]
    axis = len(stated.fields) - number
    if axis < 0 or (axis == 0 < len(stated.fields) - 1 and not stated.strides[0]):  # one serves the whole batch
        return problem
    fields = stated.spread(axis, stride)
    try:
        changed = replace(problem, **fields)
    except ValueError:  # beyond what the field may be
        return problem
    taken = all(getattr(changed, name) == value for name, value in fields.items())
    return changed if taken and max(tensor.bytes for tensor in changed.tensors) <= _MOST_BYTES else problem


def at_threshold(problem: P, operand: str, is_wide: Callable[[P], bool]) -> list[P]:
    """The farthest rows of an operand that narrow indices serve, and the nearest that take wide ones, if any do."""

    def rows_apart(steps: int) -> P:
        return spread(problem, operand, 1, steps * _STEP)

    narrow, wide = 2**12 // _STEP, 2**31 // _STEP - 1
    if is_wide(rows_apart(narrow)) or not is_wide(rows_apart(wide)):
        return []
    while wide - narrow > 1:
        middle = (narrow + wide) // 2
        narrow, wide = (narrow, middle) if is_wide(rows_apart(middle)) else (middle, wide)
    return [rows_apart(narrow), rows_apart(wide)]


def check_wide(problem: Problem, wide: Problem, program: Program) -> None:
    """Run a program for `wide` on the elements of a compact problem, and judge its outputs by the compact reference.

    Raises:
        EmulatorError: it accesses a gap, or misbehaves otherwise.
        AssertionError: an output is wrong.
    """
    exact = problem.exact_inputs(0)
    inputs = problem.inputs(0) if exact is None else exact
    expected = problem.reference({name: array.copy() for name, array in inputs.items()}, problem.scalars)
    arrays = {}
    for compact, tensor in zip(problem.tensors, wide.tensors, strict=True):
        arrays[tensor.name] = untouched(tensor)
        tensor.view(arrays[tensor.name])[...] = compact.view(inputs.get(tensor.name, poisoned(compact)))
    emulator.run(program, wide.tensors, arrays, problem.scalars, seed=1)
    for compact, tensor in zip(problem.tensors, wide.tensors, strict=True):
        if tensor.role is Role.INPUT:
            continue
        scale = expected.get(scale_name(tensor)) if exact is None else None
        dense = replace(compact, strides=row_major(compact.shape), in_place="")
        found = compare(
            dense if exact is None else exactly(dense),
            _dense(tensor, arrays[tensor.name]),
            _dense(compact, expected[tensor.name]),
            poisoned(dense),
            None if scale is None else _dense(compact, scale),
        )
        assert isinstance(found, float), f"{wide.key}: {found}"


def _dense(tensor: Tensor, flat: Array) -> Array:
    return np.ascontiguousarray(tensor.view(flat)).reshape(-1)


def untouched(tensor: Tensor) -> Array:
    """A flat buffer that takes no memory until it is written."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    return np.frombuffer(mmap.mmap(-1, tensor.bytes, flags=flags), tensor.dtype.numpy, tensor.size)
