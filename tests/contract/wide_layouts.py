"""Problems whose rows or matrices lie so far apart that offsets take more than 31 bits, on a few pages of memory."""

import mmap
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
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


_ROWS_AROUND = 2048  # that the blocks of an end may reach beside those that are judged


def far_rows(problem: P, name: str) -> Iterator[P]:
    """The problem with so much of a size that its first and its last part lie far apart, the farthest first."""
    for far in (2**power for power in range(33, 27, -1)):
        if changed := _with_size(problem, name, far + getattr(problem, name)):
            yield changed


def _with_size(problem: P, name: str, value: int) -> P | None:
    """The problem with another size; None where the field or the layouts do not allow that."""
    with suppress(ValueError):
        changed = replace(problem, **{name: value})
        return changed if changed.tensors else None
    return None


def grows_along_rows(problem: Problem, name: str) -> bool:
    """Whether a size counts the rows of some outputs, and the results of a row depend on the row alone."""
    twice = _with_size(problem, name, 2 * getattr(problem, name))
    if twice is None:
        return False
    for compact, tensor in zip(problem.tensors, twice.tensors, strict=True):
        grown = tensor.shape == (2 * compact.shape[0], *compact.shape[1:])
        if (tensor.shape != compact.shape and not grown) or tensor.strides[0] != max(tensor.strides):
            return False
    inputs = problem.inputs(0)
    doubled = {one.name: untouched(one) for one in twice.tensors if one.name in inputs}
    _fill(problem, twice, doubled, inputs)
    expected, found = problem.reference(inputs, problem.scalars), twice.reference(doubled, twice.scalars)
    return any(_grown(*pair) for pair in zip(problem.tensors, twice.tensors, strict=True)) and all(
        np.array_equal(compact.view(expected[compact.name]), half, equal_nan=compact.dtype.is_float)
        for compact, tensor in zip(problem.tensors, twice.tensors, strict=True)
        if tensor.role is not Role.INPUT and _grown(compact, tensor)
        for half in _ends(compact, tensor, found[tensor.name])
    )


def check_far_rows(problem: Problem, far: Problem, emit: Callable[[Problem], Program]) -> None:
    """Run the first and the last blocks of a program for `far` on the rows of a compact problem at both ends.

    Blocks of a program with a workspace may take other rows than those of their number: their results are not judged.

    Raises:
        EmulatorError: it accesses what lies between, or misbehaves otherwise.
        AssertionError: an output is wrong.
    """
    program, ends = emit(far), 1 + max(launch.blocks for launch in emit(problem).launches)
    inputs = problem.inputs(0)
    expected = problem.reference({name: array.copy() for name, array in inputs.items()}, problem.scalars)
    arrays = {tensor.name: untouched(tensor) for tensor in far.tensors}
    _fill(problem, far, arrays, inputs | {one.name: poisoned(one) for one in problem.tensors if one.name not in inputs})
    emulator.run(program, [_at_both_ends(one) for one in far.tensors], arrays, problem.scalars, seed=1, ends=ends)
    for compact, tensor in zip(problem.tensors, far.tensors, strict=True):
        if tensor.role is Role.INPUT or not _grown(compact, tensor) or program.workspace_bytes:
            continue
        dense, scale = replace(compact, strides=row_major(compact.shape), in_place=""), expected.get(scale_name(tensor))
        of_rows = _dense(compact, expected[tensor.name]), poisoned(dense)
        for half in _ends(compact, tensor, arrays[tensor.name]):
            given = np.ascontiguousarray(half).reshape(-1)
            found = compare(dense, given, *of_rows, None if scale is None else _dense(compact, scale))
            assert isinstance(found, float), f"{far.key}: {found}"


def _grown(compact: Tensor, tensor: Tensor) -> bool:
    return tensor.shape != compact.shape


def _ends(compact: Tensor, tensor: Tensor, flat: Array) -> tuple[Array, Array]:
    """The first and the last rows of a tensor, as many as the compact one has."""
    view, rows = tensor.view(flat), compact.shape[0]
    return view[:rows], view[-rows:]


def _fill(problem: Problem, far: Problem, arrays: dict[str, Array], given: Mapping[str, Array]) -> None:
    for compact, tensor in zip(problem.tensors, far.tensors, strict=True):
        if tensor.name in arrays:
            for half in _ends(compact, tensor, arrays[tensor.name]):
                half[...] = compact.view(given[tensor.name])


def _at_both_ends(tensor: Tensor) -> Tensor:
    """What of a tensor is there: rows at both of its ends."""
    count = (tensor.strides[0] if tensor.shape else 1) * _ROWS_AROUND
    if tensor.size <= 2 * count:
        return tensor
    return replace(tensor, shape=(2, count), strides=(tensor.size - count, 1), in_place="")
