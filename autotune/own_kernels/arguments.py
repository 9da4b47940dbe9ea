"""What a kernel's parameters are, as users state them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import EXACT, Judgement, Role, Tensor, Within, row_major

from .expression import Expression, Stated

# As torch.testing.assert_close judges, beside the rounding of the result.
_RELATIVE = {DType.FLOAT64: 1e-7, DType.FLOAT32: 1.3e-6, DType.FLOAT16: 1e-3, DType.BFLOAT16: 1.6e-2}
_ABSOLUTE = {DType.FLOAT64: 1e-7}
_ABSOLUTE_OTHERS, _RELATIVE_OTHERS = 1e-5, 0.1
_OF_CUDA = re.compile(r"((?:float|double|int|uint)(?=[234])|half|__half|__nv_bfloat16)([234]?)")
_ELEMENTS = {
    "float": DType.FLOAT32,
    "double": DType.FLOAT64,
    "int": DType.INT32,
    "uint": DType.UINT32,
    "half": DType.FLOAT16,
    "__half": DType.FLOAT16,
    "__nv_bfloat16": DType.BFLOAT16,
}
_MOST_RANDOM = 100  # of integers
_MOST_WHOLE = 4

Fill = Callable[[np.random.Generator, tuple[int, ...]], Array]


class ArrayArgument:
    """An array, row-major and without gaps.

    Args:
        dtype: NumPy's name of the elements' type, such as ``float32``, or CUDA's of a vector, such as ``float2``, whose
            numbers are a last axis of the array, or of ``half`` or ``__nv_bfloat16``, which its headers have.
        shape: elements along each axis, by sizes of the problem: ``"n"``, ``"2 * n + 1"``, 4.
        alignment: bytes that the address is a multiple of. Arrays that are aligned to less are refused.

    Attributes:
        of_cuda: CUDA's name of the elements' type if that was given, else empty.
    """

    role = Role.INPUT

    def __init__(self, dtype: str, *shape: Stated, alignment: int = WIDEST_ACCESS) -> None:
        of_cuda = _OF_CUDA.fullmatch(dtype)
        if of_cuda and of_cuda[2]:
            shape = *shape, int(of_cuda[2])
        self.dtype = _ELEMENTS[of_cuda[1]] if of_cuda else _dtype(dtype)
        self.of_cuda = dtype if of_cuda else ""
        self.shape = tuple(map(Expression, shape))
        self.alignment = alignment
        self.judged: Judgement = EXACT

    def tensor(self, name: str, sizes: Mapping[str, Any]) -> Tensor:
        """The array for a problem of these sizes."""
        shape = tuple(extent.number_of(sizes) for extent in self.shape)
        return Tensor(name, self.dtype, shape, row_major(shape), self.role, self.alignment, self.judged)


class Input(ArrayArgument):
    """An array that the kernel reads.

    Args:
        dtype, shape, alignment: see `ArrayArgument`.
        values: makes an array of a shape from a `numpy.random.Generator`, to verify and to time with. By default
            floats are from -1 to 1, integers up to 100 from 0.
    """

    def __init__(self, dtype: str, *shape: Stated, values: Fill | None = None, alignment: int = WIDEST_ACCESS) -> None:
        super().__init__(dtype, *shape, alignment=alignment)
        self.values = values

    def made(self, random: np.random.Generator, shape: tuple[int, ...], *, whole: bool = False) -> Array:
        """Random elements, or small `whole` numbers."""
        if whole and self.dtype.is_float:
            return random.integers(-_MOST_WHOLE, _MOST_WHOLE + 1, shape).astype(self.dtype.numpy)
        if self.values:
            found = np.asarray(self.values(random, shape))
            if found.shape != shape:
                raise ValueError(f"values makes an array of shape {found.shape}: expected {shape}")
            return found.astype(self.dtype.numpy)
        if self.dtype.is_float:
            return random.uniform(-1, 1, shape).astype(self.dtype.numpy)
        most = 2 if self.dtype is DType.BOOL else _MOST_RANDOM + 1
        return random.integers(0, most, shape).astype(self.dtype.numpy)


class Output(ArrayArgument):
    """An array that the kernel writes, all of it.

    An element of integers is right bit for bit. One of floats is right if |actual - expected| is `absolute` +
    `relative`·|expected| at most, beside the rounding of the result to its type; by default as
    ``torch.testing.assert_close`` has it. Of an output ``y`` the reference may state ``y_scale``, an array of what
    errors are relative to in place of |expected|, such as the sums of the terms' absolute values.

    Args:
        dtype, shape, alignment: see `ArrayArgument`.
        absolute, relative: the errors of floats.
    """

    role = Role.OUTPUT

    def __init__(
        self,
        dtype: str,
        *shape: Stated,
        absolute: float | None = None,
        relative: float | None = None,
        alignment: int = WIDEST_ACCESS,
    ) -> None:
        super().__init__(dtype, *shape, alignment=alignment)
        self.judged = _judged(self.dtype, absolute, relative)


class InOut(Input):
    """An array that the kernel reads and writes. Its elements are judged as those of an `Output`.

    Args:
        dtype, shape, values, alignment: see `Input`.
        absolute, relative: see `Output`.
    """

    role = Role.IN_OUT

    def __init__(
        self,
        dtype: str,
        *shape: Stated,
        values: Fill | None = None,
        absolute: float | None = None,
        relative: float | None = None,
        alignment: int = WIDEST_ACCESS,
    ) -> None:
        super().__init__(dtype, *shape, values=values, alignment=alignment)
        self.judged = _judged(self.dtype, absolute, relative)


@dataclass(frozen=True)
class Value:
    """A number that follows from the problem's sizes: by default the size of the parameter's name.

    Attributes:
        type: the C++ type, such as ``int`` or ``long long``.
        of: what it is, by sizes of the problem.
    """

    type: str
    of: Stated | None = None


@dataclass(frozen=True)
class Scalar:
    """A number that callers bring.

    Attributes:
        type: the C++ type, such as ``float``.
        example: to verify and to time with.
    """

    type: str
    example: float = 1.0


class Entry:
    """A kernel of the same source and of the same parameters, which says what is right.

    Args:
        entry: its name, or an instance of a template.
        grid, block: its blocks and their threads, by sizes of the problem.
    """

    def __init__(self, entry: str, *, grid: Stated | Sequence[Stated], block: Stated | Sequence[Stated]) -> None:
        self.entry, self.grid, self.block = entry, axes(grid), axes(block)


def axes(stated: Stated | Sequence[Stated]) -> tuple[Expression, ...]:
    """What is stated of one to three axes."""
    return tuple(map(Expression, stated if isinstance(stated, list | tuple) else (stated,)))


KernelArgument = ArrayArgument | Value | Scalar


def _dtype(name: str) -> DType:
    if name not in [*DType] or name == DType.INT4:
        known = ", ".join(one for one in DType if one is not DType.INT4)
        raise ValueError(f"dtype {name!r}: expected one of {known}, or a vector such as float2")
    return DType(name)


def _judged(dtype: DType, absolute: float | None, relative: float | None) -> Judgement:
    if not dtype.is_float:
        if absolute is not None or relative is not None:
            raise ValueError(f"{dtype} is judged bit for bit: expected no absolute or relative error")
        return EXACT
    return Within.rounded(
        dtype,
        _ABSOLUTE.get(dtype, _ABSOLUTE_OTHERS) if absolute is None else absolute,
        _RELATIVE.get(dtype, _RELATIVE_OTHERS) if relative is None else relative,
    )
