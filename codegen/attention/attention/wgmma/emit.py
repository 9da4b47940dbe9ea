"""The program of a schedule by wgmma."""

from __future__ import annotations

from autotune.codegen.attention.attention.emit import source_of, stored_vector
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.source.wgmma import wgmma_source

from .schedule import PRODUCT_COLUMNS, ROW_BYTES, WgmmaSchedule

ALIGNED = 8  # elements that strides of tensor copies are multiples of


def emit(problem: AttentionProblem, schedule: WgmmaSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    dtype, columns = problem.dtype, round_up(problem.value_elements, PRODUCT_COLUMNS)
    of_keys = wgmma_source(schedule.tile_keys, dtype, dtype)
    of_values = wgmma_source(columns, dtype, dtype, n_adjacent=True, registers_a=True)
    rows = {"q": schedule.block_rows, "k": schedule.tile_keys, "v": schedule.tile_keys}
    return source_of(problem).scheduled(
        schedule,
        "wgmma/block",
        "attention_wgmma_block",
        facts={"stored_vector": stored_vector(problem)},
        maps=[_map(problem, operand, count) for operand, count in rows.items()],
        text=f"{of_keys}\n{of_values}".rstrip(),
        workspace_bytes=schedule.workspace_bytes,
    )


def _map(problem: AttentionProblem, operand: str, rows: int) -> Argument:
    """Boxes of so many queries or keys of a head. A stride along an axis of one element is any that may be."""
    stated = problem.layouts[operand]
    steps = zip(stated.shape, stated.strides, strict=False)
    strides = tuple(step if extent > 1 else ALIGNED for extent, step in steps)
    box = (1, rows, 1, ROW_BYTES // problem.dtype.bytes)
    described = TensorMap(operand, problem.dtype, stated.shape, (*strides, 1), box, Swizzle.B128)
    return Argument(f"map_{operand}", "TensorMap", tensor_map=described)
