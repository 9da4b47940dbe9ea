"""The program of a schedule by Winograd's minimal filtering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autotune.codegen.convolution.conv2d.emit import ENTRY, source
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.filtering import Matrix
from autotune.codegen.epilogue import epilogue
from autotune.codegen.matmul.sgemm.emit import emit as emit_sgemm
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Fixed
from autotune.codegen.model.program import Program
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import KernelSource

from .schedule import OperandsSchedule, PixelsSchedule, WinogradSchedule

_MATRICES = {"Results": "Aᵀ", "Filters": "G", "Elements": "Bᵀ"}


def emit(problem: Conv2dProblem, schedule: WinogradSchedule) -> Program:
    """Three launches, or more where sgemm has several: transforms, products, and the transform to pixels."""
    operands = {"transformed_tiles": "a", "transformed_filters": "b", "products": "c"}
    own, facts, text = transforming(problem, *operands)
    ahead = replace(own, entry=f"{ENTRY}_transform").scheduled(
        OperandsSchedule(), "winograd/transform", "transform_operands", facts=facts, text=text
    )
    products = emit_sgemm(problem.transformed, schedule)
    fixed: dict[str, Fixed] = {"alpha": 1.0, "beta": 0.0, **{operand: name for name, operand in operands.items()}}
    behind = own.scheduled(PixelsSchedule(), "winograd/pixels", "store_pixels", facts=facts, text=text)
    sizes = dict(zip(operands, problem.transformed_sizes, strict=True))
    program = ahead.then(products.taking(**fixed)).then(behind)
    return program.in_workspace(**{name: DType.FLOAT32.bytes * max(1, size) for name, size in sizes.items()})


def transforming(problem: Conv2dProblem, *parts: str) -> tuple[KernelSource, Mapping[str, Constant], str]:
    """The source of kernels that transform, which take parts of the workspace; the facts that they ask for, and the
    matrices."""
    own = replace(source(problem), scalars=(*epilogue.ARGUMENTS, *(Argument(name, "float*") for name in parts)))
    facts = {"transform_vector": problem.transform_vector, "pixel_vector": problem.pixel_vector}
    return own, facts, _matrices(problem)


def _matrices(problem: Conv2dProblem) -> str:
    """Their declarations."""
    filtering = problem.filtering
    title = f"F({filtering.outputs}, {problem.kernel_h})"
    return "\n\n".join(
        f"// {symbol} of {title}.\n{_declared(name, getattr(filtering, name.lower()))}"
        for name, symbol in _MATRICES.items()
    )


def _declared(name: str, matrix: Matrix) -> str:
    rows = ",\n        ".join(f"{{{', '.join(_number(float(one)) for one in row)}}}" for row in matrix)
    return f"""struct {name} {{
  static constexpr int rows = {len(matrix)}, columns = {len(matrix[0])};
  static __device__ __forceinline__ constexpr float at(int row, int column) {{
    constexpr float factors[rows][columns] = {{
        {rows}}};
    return factors[row][column];
  }}
}};"""


def _number(value: float) -> str:
    return f"{value + 0.0!r}f"
