"""Whether an output is what it should be: one rule for the emulator and for GPUs (devices/verify.cuh has its twin)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .codegen.model.dtype import DType
from .codegen.model.lists import suffixed
from .codegen.model.problem import Array, Problem
from .codegen.model.tensor import Checked, Role, Tensor, Within

UNTOUCHED = "the gap untouched"
WRITTEN = "an element that is written"
# Every byte of an output before a launch. The first one makes NaN of every floating-point type. What a kernel does not
# write cannot be right after a launch on each, not even where NaN or -1 is expected.
POISONS = (0xFF, 0x00)
_Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Mismatch:
    """How an output differs from what was expected: how many of its elements, and the first of them.

    Attributes:
        count: elements that are wrong.
        size: elements of the flat buffer.
        index: of the first that is wrong.
        actual, expected: what it is and what it should be.
        place: its indices along several axes, for people.
    """

    count: int
    size: int
    index: int
    actual: str
    expected: str
    place: str = ""

    def __str__(self) -> str:
        return (
            f"wrong: {self.count} of {self.size} elements, "
            f"first at {self.place or self.index}: got {self.actual}, expected {self.expected}"
        )


def poisoned(tensor: Tensor, poison: int = POISONS[0]) -> Array:
    """A flat buffer of one of `POISONS`: an output before the launch."""
    return np.full(tensor.bytes, poison, np.uint8).view(tensor.dtype.numpy)


def launch_inputs(problem: Problem, seed: int) -> dict[str, Array]:
    """`Problem.inputs` with poison in the gaps of what is only read, so that a kernel that reads one is wrong.

    The gaps of a tensor that is written too keep their random numbers: NaN could come out as the NaN that went in.
    """
    return _with_poison(problem, problem.inputs(seed))


def exact_launch_inputs(problem: Problem, seed: int) -> dict[str, Array] | None:
    """The same of `Problem.exact_inputs`, whose outputs are judged `exactly`; None if it has none."""
    inputs = problem.exact_inputs(seed)
    return None if inputs is None else _with_poison(problem, inputs)


def exactly(tensor: Tensor) -> Tensor:
    """An output as it is judged for `exact_launch_inputs`: it may be rounded once, and relative to itself."""
    return replace(tensor, judged=Within.rounded(tensor.dtype)) if isinstance(tensor.judged, Within) else tensor


def _with_poison(problem: Problem, inputs: dict[str, Array]) -> dict[str, Array]:
    for tensor in problem.tensors:
        if tensor.role is Role.INPUT and (inside := tensor.inside) is not None:
            inputs[tensor.name] = np.where(inside, inputs[tensor.name], poisoned(tensor))
    return inputs


def launch_arrays(problem: Problem, seed: int, poison: int = POISONS[0]) -> dict[str, Array]:
    """What all tensors hold before a launch: `launch_inputs`, and outputs as `poisoned`."""
    outputs = {tensor.name: poisoned(tensor, poison) for tensor in problem.tensors if tensor.role is Role.OUTPUT}
    return launch_inputs(problem, seed) | outputs


def expected_dtype(tensor: Tensor) -> DType:
    """The type in which a reference states an output: float64 where the kernel may round, else the output's own."""
    return DType.FLOAT64 if isinstance(tensor.judged, Within) else tensor.dtype


def scale_name(tensor: Tensor) -> str:
    """The array, of float64, in which a reference may state the scale of each element's tolerance."""
    return suffixed(tensor.name, "_scale")


def judge(
    problem: Problem,
    before: Mapping[str, Array],
    after: Mapping[str, Array],
    expected: Mapping[str, Array],
    *,
    exact: bool = False,
    rows: Array | None = None,
) -> dict[str, float | Mismatch]:
    """`compare` each output of a problem, or look whether it is right where it is `Checked`.

    Args:
        problem: what was computed.
        before, after: what tensors held before and after the launch.
        expected: what `Problem.reference` says.
        exact: whether the inputs are `exact_launch_inputs`.
        rows: those of `Problem.sampled_rows`.
    """
    outputs = [tensor for tensor in problem.tensors if tensor.role is not Role.INPUT]
    checked: Mapping[str, Array] = {}
    if any(isinstance(tensor.judged, Checked) for tensor in outputs):
        inputs = {tensor.name: before[tensor.name] for tensor in problem.tensors if tensor.role is not Role.OUTPUT}
        checked = problem.check(inputs, {tensor.name: after[tensor.name] for tensor in outputs}, problem.scalars)
    found: dict[str, float | Mismatch] = {}
    for tensor in outputs:
        name, counts = tensor.name, after[tensor.extent.count] if tensor.extent else None
        if isinstance(tensor.judged, Checked):
            found[name] = compare_checked(tensor, after[name], checked[name], before[name], counts)
        else:
            scale = None if exact else expected.get(scale_name(tensor))
            judged = exactly(tensor) if exact else tensor
            sampled = rows if tensor.row_axes else None
            found[name] = compare(judged, after[name], expected[name], before[name], scale, counts, sampled)
    return found


def compare(
    tensor: Tensor,
    actual: Array,
    expected: Array,
    before: Array,
    scale: Array | None = None,
    counts: Array | None = None,
    rows: Array | None = None,
) -> float | Mismatch:
    """Judge a whole flat output as `tensor.judged` says, and return its largest absolute error if all of it is right.

    The elements of the tensor must be right, and those of its gaps must be what they were, bit for bit.

    Args:
        tensor: the output.
        actual: what a kernel left.
        expected: what `Problem.reference` says, of `expected_dtype`; its gaps do not count.
        before: what was there before the launch.
        scale: what errors are relative to; None stands for |expected|.
        counts: what the kernel left in the output that `Tensor.extent` names; the elements behind are gaps.
        rows: of which `expected` speaks; None: of all. Elements of others are not judged, their gaps are.

    Raises:
        ValueError: the arrays do not fit the tensor.
    """
    for array, dtype in ((actual, tensor.dtype), (expected, expected_dtype(tensor)), (before, tensor.dtype)):
        if (array.shape, array.dtype) != ((tensor.size,), dtype.numpy):
            raise ValueError(
                f"{tensor.name} is compared with {array.dtype} of shape {array.shape}; "
                f"expected {dtype} of shape ({tensor.size},)"
            )
    if not isinstance(tensor.judged, Within):
        error, right = np.zeros(tensor.size), _same(tensor.dtype, actual, expected)
    else:
        error, right = _within(tensor.judged, tensor.dtype, actual, expected, scale)
    inside = judged = _inside(tensor, counts)
    if rows is not None:
        judged = inside & tensor.of_rows(rows)
        right = right | ~judged
    found = _found(tensor, right, inside, actual, before, lambda index: str(expected[index]))
    return found or float(np.max(error, initial=0.0, where=judged & np.isfinite(error)))


def compare_checked(
    tensor: Tensor, actual: Array, right: Array, before: Array, counts: Array | None = None
) -> float | Mismatch:
    """The same of an output that is `Checked`, whose elements are `right` as `Problem.check` says."""
    return _found(tensor, right, _inside(tensor, counts), actual, before, lambda _: str(tensor.judged)) or 0.0


def _inside(tensor: Tensor, counts: Array | None) -> _Mask:
    if tensor.extent and counts is not None:
        return tensor.counted(counts)
    return np.ones(tensor.size, np.bool_) if tensor.inside is None else tensor.inside


def _found(
    tensor: Tensor, right: _Mask, inside: _Mask, actual: Array, before: Array, expected: Callable[[int], str]
) -> Mismatch | None:
    if not inside.all():
        right = np.where(inside, right, _same_bits(actual, before))
    if right.all():
        return None
    index = int(np.argmin(right))
    wrong = int(right.size - np.count_nonzero(right))
    should = expected(index) if inside[index] else UNTOUCHED
    return Mismatch(wrong, right.size, index, str(actual[index]), should, tensor.indices_of(index))


def unwritten(
    tensor: Tensor, first: tuple[Array, Array], second: tuple[Array, Array], counts: Array | None = None
) -> Mismatch | None:
    """The elements that two launches left as they were, though they were not the same before them.

    Where no reference says what an element is, that shows that no kernel wrote it. Each launch is what the output held
    before it and after it.
    """
    left = _same_bits(*first) & _same_bits(*second) & ~_same_bits(first[0], second[0]) & _inside(tensor, counts)
    return _found(tensor, ~left, np.ones(tensor.size, np.bool_), second[1], second[0], lambda _: WRITTEN)


def is_sampled(tensor: Tensor, rows: Array | None) -> bool:
    """Whether there are elements of an output of which no reference says what they are."""
    return isinstance(tensor.judged, Checked) or (tensor.row_axes > 0 and rows is not None)


def difference(tensor: Tensor, first: Array, second: Array, counts: Array | None = None) -> str:
    """How an output of two launches on the same inputs differs, bit for bit but for gaps; empty if it does not.

    `counts` is what a launch left in the output that `Tensor.extent` names.
    """
    same = _same_bits(first, second) | ~_inside(tensor, counts)
    if same.all():
        return ""
    index = int(np.argmin(same))
    return (
        f"{same.size - np.count_nonzero(same)} of {same.size} elements differ between two launches on the same inputs, "
        f"first at {tensor.indices_of(index) or index}: {first[index]!s}, then {second[index]!s}"
    )


def _within(
    judged: Within, dtype: DType, actual: Array, expected: Array, scale: Array | None
) -> tuple[npt.NDArray[np.float64], _Mask]:
    """The absolute error of each element, and whether it is right.

    An infinity is right as well where the tolerance reaches beyond the largest number of the output's type.
    """
    values = actual.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # infinity - infinity, 0 · infinity
        error = np.abs(values - expected)
        tolerance = judged.absolute + judged.relative * (np.abs(expected) if scale is None else scale)
        close = np.isfinite(expected) & (error <= tolerance)
        reached = np.copysign(1.0, values) * expected + tolerance  # towards the infinity of the value's sign
        overflown = np.isinf(values) & np.isfinite(expected) & (reached > dtype.largest)
    return error, close | overflown | (values == expected) | (np.isnan(values) & np.isnan(expected))


def _same(dtype: DType, actual: Array, expected: Array) -> _Mask:
    same = _same_bits(actual, expected)
    if dtype.is_float:
        with np.errstate(invalid="ignore"):  # of a signalling NaN
            same |= np.isnan(actual.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    return same


def _same_bits(a: Array, b: Array) -> _Mask:
    same: _Mask = (a.view(np.uint8) == b.view(np.uint8)).reshape(a.size, a.itemsize).all(axis=1)
    return same
