"""The programs of conv2d_planes: those of conv2d between transposes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from autotune.codegen.convolution.source import source_of
from autotune.codegen.epilogue import epilogue
from autotune.codegen.layout.transpose.emit import emit as emit_transpose
from autotune.codegen.layout.transpose.presets import vectorised
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource

from .problem import Conv2dPlanesProblem

ENTRY = "conv2d_planes"
_CALL = "conv2d_planes_naive<{}>(arguments);"


class Copy(NamedTuple):
    """A transpose of an array of the call, and where it is in the workspace.

    Attributes:
        array: its tensor.
        part: of the workspace.
        transposed: of A, planes, to channels that are last, or of what is stored back.
    """

    array: str
    part: str
    transposed: TransposeProblem

    @property
    def bytes(self) -> int:
        """Of the part."""
        one = self.transposed
        return one.batch * one.m * one.n * one.element_bytes


def copies(problem: Conv2dPlanesProblem) -> Iterator[Copy]:
    """Those of images, filters and C, and that of D; arrays with one channel, or of one pixel, are what they are."""
    size = problem.dtype.bytes
    taps, pixels = problem.kernel_h * problem.kernel_w, problem.out_height * problem.out_width
    image = problem.height * problem.width
    for array, part, planes, elements, count in (
        ("x", "images", problem.in_channels, image, problem.batch),
        ("weight", "filters", problem.channels, taps, problem.out_channels),
        *([("c", "before", problem.out_channels, pixels, problem.batch)] if problem.residual else []),
    ):
        if planes > 1 and elements > 1:
            align = getattr(problem, f"align_{'d' if array == 'c' else array}")
            yield Copy(array, part, TransposeProblem(planes, elements, size, count, align_a=align))
    if problem.out_channels > 1 and pixels > 1:
        result = TransposeProblem(pixels, problem.out_channels, size, problem.batch, align_b=problem.align_d)
        yield Copy("d", "results", result)


def between_transposes(problem: Conv2dPlanesProblem, program: Program) -> Program:
    """A program of `Conv2dPlanesProblem.channels_last`, with transposes of what it reads ahead and of D behind."""
    if problem.empty:
        return program
    taken = {one.array: one for one in copies(problem)}
    joined = program.taking(**{name: one.part for name, one in taken.items()})
    for name, one in taken.items():
        transpose = emit_transpose(one.transposed, vectorised(one.transposed))
        if name == "d":
            joined = joined.then(transpose.taking(a=one.part, b=name))
        else:
            joined = transpose.taking(a=name, b=one.part).then(joined)
    return joined.in_workspace(**{one.part: one.bytes for one in taken.values()}) if taken else joined


def emit_naive(problem: Conv2dPlanesProblem) -> Program:
    """A thread for each element of D, where arrays lie as they do."""
    return source(problem).plain(", a thread for each element", _elements(problem), _CALL.format("float"))


def emit_reference(problem: Conv2dPlanesProblem) -> Program:
    """In double precision: the truth that the others are compared with on a device."""
    return source(problem).plain(", in double", _elements(problem), _CALL.format("double"), reference=True)


def _elements(problem: Conv2dPlanesProblem) -> int:
    return problem.pixels * problem.out_channels


def source(problem: Conv2dPlanesProblem) -> KernelSource:
    """As kernels that read planes see the problem."""
    served = f"D = {problem.epilogue.formula('conv2d(X, W)', 'C')} of planes, {problem.dtype}"
    return source_of(problem, ENTRY, served, epilogue.ARGUMENTS, sizes={}, ldd=problem.ldd, stride_d=problem.filters)


def transposed(emit: Callable[..., Program]) -> Callable[..., Program]:
    """A kernel's emission of what is between transposes."""

    def around(problem: Conv2dPlanesProblem, schedule: object) -> Program:
        return between_transposes(problem, emit(problem.channels_last, schedule))

    return around
