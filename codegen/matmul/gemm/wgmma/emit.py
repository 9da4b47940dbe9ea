"""The program of a schedule by wgmma."""

from __future__ import annotations

from autotune.codegen.matmul.gemm.emit import by_column, scheduled
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.program import Program
from autotune.codegen.source.headers import Constant

from .operands import product_source, registers_a, tensor_maps
from .schedule import WgmmaSchedule
from .swap import tiled_problem


def emit(problem: GemmProblem, schedule: WgmmaSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    left = tiled_problem(product(problem, schedule), schedule)
    # If ptxas knows how many steps there are, it lets products with A in registers wait in turn (C7513 of 13.0).
    unknown = ("k",) if registers_a(left) else ()
    return scheduled(
        problem,
        schedule,
        "gemm_wgmma_block",
        facts_of_product(problem, schedule),
        swapped=lambda one: tiled_problem(one, schedule),
        maps=tensor_maps(problem, schedule),
        functions=product_source(left, schedule),
        unknown=unknown,
    )


def facts_of_product(problem: GemmProblem, schedule: WgmmaSchedule) -> dict[str, Constant]:
    """What the headers of a product by wgmma name beside the schedule, and beside what all products know."""
    left = tiled_problem(product(problem, schedule), schedule)
    return {
        "residual_stages": schedule.residual_stages(problem),
        "residual_ring": schedule.residual_ring(problem),
        "grouped_boxes": schedule.grouped_boxes(problem),
        "kept_boxes": schedule.kept_boxes(problem),
        "held_columns": _held_columns(left, schedule),
        "registers_a": registers_a(left),
        "narrow_rows": schedule.narrow_rows(problem),
        "partial_boxes": schedule.loaded_columns(problem) > schedule.block_n,
    }


def _held_columns(problem: GemmProblem, schedule: WgmmaSchedule) -> bool:
    """Whether consumers load what a tile's columns have before its products."""
    single = problem.parts == 1 and problem.result.bytes == 2 and schedule.cluster_k == 1
    return by_column(problem) and single and schedule.tensor_store
