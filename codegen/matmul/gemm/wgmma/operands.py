"""What kernels by wgmma have beside their headers: tensor maps, and the text of a product."""

from __future__ import annotations

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.prepare import prepared, product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.workspace_copy import copies_in_workspace
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.source.wgmma import wgmma_source

from .schedule import WgmmaSchedule
from .swap import tiled_problem


def tensor_maps(problem: GemmProblem, schedule: WgmmaSchedule) -> tuple[Argument, ...]:
    """The maps by which tiles of A and B are copied, in boxes with rows of 128 bytes, and those of D stored."""
    left = tiled_problem(product(problem, schedule), schedule)
    copies = copies_in_workspace(problem, [one.copy for one in prepared(problem, schedule)])
    tensors = {"a": "b", "b": "a"} if schedule.swap else {}
    maps = []
    for operand, extent, sharers in (
        ("a", schedule.block_m, schedule.cluster_n),
        ("b", schedule.block_n, schedule.cluster_m),
    ):
        rows = (extent if left.along_k(operand) else schedule.block_k) // sharers
        if operand == "b" and left.gate is Gate.HALVES and left.along_k("b"):
            rows //= 2  # gates, and then factors
        dtype = left.dtype if operand == "a" else left.dtype_b
        tensor = "workspace" if operand in copies else tensors.get(operand, operand)
        offset = copies[operand].offset if operand in copies else 0
        width = schedule.row_bytes(problem, operand)
        maps.append(_map(left, operand, dtype, rows, tensor, offset, width))
    return (*maps, *stored_maps(problem, schedule))


def stored_maps(problem: GemmProblem, schedule: WgmmaSchedule) -> tuple[Argument, ...]:
    """The maps by which tensor copies store D and Z, and load C, in the same boxes."""
    if not schedule.tensor_store:
        return ()
    known = {"c": schedule.residual_stages(problem), "z": schedule.kept_boxes(problem)}
    stored = ["d", *(name for name, one in known.items() if one)]
    rows, width = schedule.store_box(problem)
    return tuple(_map(problem, name, problem.result, rows, name, 0, width) for name in stored)


def product_source(problem: GemmProblem, schedule: WgmmaSchedule) -> str:
    """The function ``wgmma``, whose B is as wide as a block's tile."""
    by_registers = registers_a(problem)
    return wgmma_source(
        schedule.block_n,
        problem.dtype,
        problem.dtype_b,
        m_adjacent=problem.transpose_a and not by_registers,
        n_adjacent=not problem.transpose_b,
        registers_a=by_registers,
    ).rstrip()


def registers_a(problem: GemmProblem) -> bool:
    """Whether products take A from registers: floats that lie across k."""
    return problem.dtype is DType.FLOAT32 and not problem.along_k("a")


def _map(
    problem: GemmProblem,
    operand: str,
    dtype: DType,
    rows: int,
    tensor: str,
    offset: int,
    row_bytes: int,
) -> Argument:
    """A box has so many rows of so many bytes; the operand lies so many bytes into a tensor, or into the workspace."""
    layout = operand if operand in "ab" else "d"
    leading, stride, _ = problem.layout_of(layout)
    shape: tuple[int, ...] = problem.stored[layout]
    if operand == "z":  # without gaps
        leading, stride = problem.n, problem.m * problem.n
    strides: tuple[int, ...] = (leading, 1)
    box: tuple[int, ...] = (rows, row_bytes // dtype.bytes)
    swizzle = next((one for one in Swizzle if one.bytes == row_bytes), Swizzle.NONE)
    if problem.batch > 1:
        shape, strides, box = (problem.batch if stride else 1, *shape), (stride, *strides), (1, *box)
    tf32 = dtype is DType.FLOAT32 and operand in "ab"
    described = TensorMap(tensor, dtype, shape, strides, box, swizzle, offset, tf32)
    return Argument(f"map_{operand}", "TensorMap", tensor_map=described)
