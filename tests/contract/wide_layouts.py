"""Problems whose rows or matrices lie so far apart that offsets take more than 31 bits, on a few pages of memory."""

import mmap
import re
from contextlib import contextmanager, suppress
from dataclasses import replace

import numpy as np

from autotune import emulator
from autotune.codegen.model.tensor import Role, row_major
from autotune.verification import compare, exactly, poisoned, scale_name

_MAP_NORESERVE = 0x4000  # of Linux: pages take memory when they are touched
_STEP = 16  # elements: the widest vectors of any element are aligned to that
_FAR = (2**31 - _STEP, 2**31 + _STEP, 2**33 + _STEP)
_MOST_BYTES = 1 << 41  # from the first to the last element of a tensor
_OF_OTHERS = "waits for ever|did not end within|: race: |an output, before it was written"  # errors


def wide_layouts(problem):
    """The problem with all rows as far apart, or all parts along another axis."""
    depth = max((len(stated.fields) for stated in problem.layouts.values()), default=0)
    for far in _FAR:
        for number in range(1, depth + 1):
            wide = problem
            for operand in problem.layouts:
                wide = spread(wide, operand, number, far)
            if wide != problem:
                yield wide


def spread(problem, operand, number, stride):
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


def at_threshold(problem, operand, is_wide):
    """The farthest rows of an operand that narrow indices serve, and the nearest that take wide ones, if any do."""

    def rows_apart(steps):
        return spread(problem, operand, 1, steps * _STEP)

    narrow, wide = 2**12 // _STEP, 2**31 // _STEP - 1
    if is_wide(rows_apart(narrow)) or not is_wide(rows_apart(wide)):
        return []
    while wide - narrow > 1:
        middle = (narrow + wide) // 2
        narrow, wide = (narrow, middle) if is_wide(rows_apart(middle)) else (middle, wide)
    return [rows_apart(narrow), rows_apart(wide)]


def check_wide(problem, wide, program):
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


def _dense(tensor, flat):
    return np.ascontiguousarray(tensor.view(flat)).reshape(-1)


def untouched(tensor):
    """A flat buffer that takes no memory until it is written."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    return np.frombuffer(mmap.mmap(-1, max(1, tensor.bytes), flags=flags), tensor.dtype.numpy, tensor.size)


_ROWS_AROUND = 2048  # that the blocks of an end may reach beside those that are judged
_FAR_ENDS, _MANY_BLOCKS = 2, 1 << 16  # blocks of each end that run, of launches of so many


def far_rows(problem, name):
    """The problem with so much of a size that its first and its last part lie far apart, the farthest first."""
    for far in (2**power for power in range(33, 27, -1)):
        if changed := _with_size(problem, name, far + getattr(problem, name)):
            yield changed


def far_sizes(problem, name):
    """The problem with so much of a size that what 32 bits leave of it lies far from both ends, the most first."""
    for far in (int(0.618 * 2**power) // 4096 * 4096 for power in range(33, 27, -1)):
        if changed := _with_size(problem, name, far):
            yield changed


def _with_size(problem, name, value):
    """The problem with another size; None where the field or the layouts do not allow that."""
    with suppress(ValueError):
        changed = replace(problem, **{name: value})
        return changed if changed.tensors else None
    return None


def grows_along_rows(problem, name):
    """Whether a size counts the rows of some outputs, and the results of a row depend on the row alone."""
    twice = _with_size(problem, name, 2 * getattr(problem, name))
    if twice is None or getattr(problem, name) == 1:
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


def check_far_rows(problem, far, emit):
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
    with _without_others(program):
        tensors = [_at_both_ends(one) for one in far.tensors]
        given_up = 2 if program.workspace_bytes else 10  # blocks may wait for others, which is forgiven
        emulator.run(program, tensors, arrays, problem.scalars, seed=1, ends=ends, cpu_seconds=given_up)
    for compact, tensor in zip(problem.tensors, far.tensors, strict=True):
        if tensor.role is Role.INPUT or not _grown(compact, tensor) or program.workspace_bytes:
            continue
        dense, scale = replace(compact, strides=row_major(compact.shape), in_place=""), expected.get(scale_name(tensor))
        of_rows = _dense(compact, expected[tensor.name]), poisoned(dense)
        counts = expected[tensor.extent.count] if tensor.extent else None
        for half in _ends(compact, tensor, arrays[tensor.name]):
            given = np.ascontiguousarray(half).reshape(-1)
            found = compare(dense, given, *of_rows, None if scale is None else _dense(compact, scale), counts)
            assert isinstance(found, float), f"{far.key}: {found}"


def _grown(compact, tensor):
    return tensor.shape != compact.shape


def _ends(compact, tensor, flat):
    """The first and the last rows of a tensor, as many as the compact one has."""
    view, rows = tensor.view(flat), compact.shape[0]
    return view[:rows], view[-rows:]


def _fill(problem, far, arrays, given):
    for compact, tensor in zip(problem.tensors, far.tensors, strict=True):
        if tensor.name in arrays:
            for half in _ends(compact, tensor, arrays[tensor.name]):
                half[...] = compact.view(given[tensor.name])


def _at_both_ends(tensor, rows=_ROWS_AROUND):
    """What of a tensor is there: rows at both of its ends."""
    count = (tensor.strides[0] if tensor.shape else 1) * rows
    if tensor.size <= 2 * count:
        return tensor
    return replace(tensor, shape=(2, count), strides=(tensor.size - count, 1), in_place="")


def check_far_launches(problem, far, program):
    """Run the first and the last blocks of the first and the last launch of each entry alone, if it has many blocks.

    What they compute is not judged, but for overflows and accesses to what lies between. What others leave for them is
    zeros, by which blocks may wait for ever, go through all that is there, or write to one place.

    Raises:
        EmulatorError: a block does either.
    """
    arrays = {tensor.name: untouched(tensor) for tensor in far.tensors}
    for name, given in problem.inputs(0).items():
        arrays[name][: given.size] = arrays[name][-given.size :] = given
    flat = [replace(one, shape=(one.size,), strides=(1,), in_place="") for one in far.tensors]
    many = [one for one in program.launches if one.blocks >= _MANY_BLOCKS]
    first, last = ({one.entry: one for one in launches} for launches in (reversed(many), many))
    for launch in dict.fromkeys((*first.values(), *last.values())):
        tensors = [_at_both_ends(one, _ROWS_AROUND + 2 * _FAR_ENDS * (one.size // launch.blocks + 1)) for one in flat]
        options = {"cpu_seconds": 1, "checks_block_numbers": True}
        with _without_others(program):
            emulator.run(_alone(program, launch), tensors, arrays, problem.scalars, ends=_FAR_ENDS, **options)


def _alone(program, launch):
    """The program of one launch, and of its module alone."""
    own = program.modules[launch.module]
    alone = {"source": own.source, "arguments": own.arguments, "arch_suffix": own.arch_suffix, "others": ()}
    return replace(program, steps=(replace(launch, module=0),), **alone)


@contextmanager
def _without_others(program):
    """Forgive blocks what they do where others, which have not run, have left zeros in the workspace, or no output."""
    try:
        yield
    except emulator.EmulatorError as error:
        if not program.workspace_bytes or not re.search(_OF_OTHERS, str(error)):
            raise
