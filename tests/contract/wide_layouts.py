"""Problems whose rows or matrices lie so far apart that offsets take more than 31 bits, on a few pages of memory."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from autotune import emulator
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.verification import compare, exactly, poisoned, scale_name

_MAP_NORESERVE = 0x4000  # of Linux: pages take memory when they are touched
_STEP = 16  # elements: the widest vectors of any element are aligned to that
_FAR = (2**31 - _STEP, 2**31 + _STEP, 2**33 + _STEP)
_MOST_BYTES = 1 << 41  # from the first to the last element of a tensor


def wide_layouts(problem: MatrixProblem) -> Iterator[MatrixProblem]:
    """The problem with all rows as far apart, or all matrices."""
    for far in _FAR:
        for spread in (with_leading, _with_stride):
            wide = problem
            for operand in problem.stored:
                wide = spread(wide, operand, far)
            if wide != problem:
                yield wide


def with_leading(problem: MatrixProblem, operand: str, leading: int) -> MatrixProblem:
    """The problem with rows of an operand that far apart, matrices one behind the other; itself if that cannot be."""
    rows, _ = problem.stored[operand]
    _, stride, _ = problem.layout_of(operand)
    follows = {f"stride_{operand}": rows * leading} if stride else {}
    return _changed(problem, {f"ld{operand}": leading, **follows})


def _with_stride(problem: MatrixProblem, operand: str, stride: int) -> MatrixProblem:
    """The problem with matrices of an operand that far apart, unless one serves the whole batch."""
    return _changed(problem, {f"stride_{operand}": stride}) if problem.layout_of(operand)[1] else problem


def _changed(problem: MatrixProblem, fields: dict[str, int]) -> MatrixProblem:
    try:
        changed = replace(problem, **fields)
    except ValueError:  # beyond what the field may be
        return problem
    taken = all(getattr(changed, name) == value for name, value in fields.items())
    return changed if taken and max(tensor.bytes for tensor in changed.tensors) <= _MOST_BYTES else problem


def at_threshold(problem: MatrixProblem, operand: str, is_wide: Callable[[MatrixProblem], bool]) -> list[MatrixProblem]:
    """The farthest rows of an operand that narrow indices serve, and the nearest that take wide ones, if any do."""

    def spread(steps: int) -> MatrixProblem:
        return with_leading(problem, operand, steps * _STEP)

    narrow, wide = 2**12 // _STEP, 2**31 // _STEP - 1
    if is_wide(spread(narrow)) or not is_wide(spread(wide)):
        return []
    while wide - narrow > 1:
        middle = (narrow + wide) // 2
        narrow, wide = (narrow, middle) if is_wide(spread(middle)) else (middle, wide)
    return [spread(narrow), spread(wide)]


def check_wide(problem: MatrixProblem, wide: MatrixProblem, program: Program) -> None:
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
        arrays[tensor.name] = _untouched(tensor)
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


def _untouched(tensor: Tensor) -> Array:
    """A flat buffer that takes no memory until it is written."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    return np.frombuffer(mmap.mmap(-1, tensor.bytes, flags=flags), tensor.dtype.numpy, tensor.size)
