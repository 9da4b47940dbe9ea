"""The program of a schedule by wgmma."""

from __future__ import annotations

from autotune.codegen.attention.attention.emit import stored_vector
from autotune.codegen.attention.attention.parts import split_program
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.tensor_maps import head_map
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.program import Program
from autotune.codegen.source.wgmma import wgmma_source

from .schedule import PRODUCT_COLUMNS, WgmmaSchedule


def emit(problem: AttentionProblem, schedule: WgmmaSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    dtype, columns = problem.dtype, round_up(problem.value_elements, PRODUCT_COLUMNS)
    of_keys = wgmma_source(schedule.tile_keys, dtype, dtype)
    of_values = wgmma_source(columns, dtype, dtype, n_adjacent=True, registers_a=True)
    packed = schedule.packed_heads(problem)
    rows = {"q": schedule.query_rows, "k": schedule.tile_keys, "v": schedule.tile_keys}
    return split_program(
        problem,
        schedule,
        schedule.splits,
        "wgmma/block",
        "attention_wgmma_block",
        facts={"stored_vector": stored_vector(problem), "packed_heads": packed},
        maps=[head_map(problem, name, count, heads=packed if name == "q" else 1) for name, count in rows.items()],
        text=f"{of_keys}\n{of_values}".rstrip(),
        workspace_bytes=schedule.workspace_bytes,
    )
