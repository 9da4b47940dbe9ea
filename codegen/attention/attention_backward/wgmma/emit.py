"""The program of a schedule by wgmma."""

from __future__ import annotations

from autotune.codegen.attention.attention_backward.emit import passes
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.attention.tensor_maps import head_map
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARPGROUP
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import Entry
from autotune.codegen.source.wgmma import wgmma_source

from .schedule import PRODUCT_COLUMNS, WgmmaSchedule


def emit(problem: AttentionBackwardProblem, schedule: WgmmaSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    of_keys = schedule.blocks(problem), schedule.footprint(problem)
    own = {"own_k": schedule.block_keys, "own_v": schedule.block_keys}
    maps = own | {"q": schedule.tile_queries, "dout": schedule.tile_queries}
    others = (
        [] if schedule.together else [Entry("attention_backward_values", "attention_backward_values_block", *of_keys)]
    )
    if schedule.single_pass:
        blocks = problem.row_tiles(schedule.tile_queries)
        footprint = Footprint(WARPGROUP * schedule.consumers)
        others.append(Entry("attention_backward_round", "attention_backward_round_block", blocks, footprint))
    else:
        of_queries = schedule.query_blocks(problem), schedule.query_pass(problem).footprint
        others.append(Entry("attention_backward_queries", "attention_backward_queries_block", *of_queries))
        maps |= {"own_q": schedule.block_queries, "own_dout": schedule.block_queries}
        maps |= {"k": schedule.tile_keys, "v": schedule.tile_keys}
    return passes(
        problem,
        schedule,
        "wgmma/block",
        others,
        facts={},
        summed=schedule.sum_bytes(problem) if schedule.single_pass else 0,
        maps=[head_map(problem, name.removeprefix("own_"), count, name) for name, count in maps.items()],
        text=_products(problem, schedule),
    )


def _products(problem: AttentionBackwardProblem, schedule: WgmmaSchedule) -> str:
    """Those of rows with others, of factors with the rows of others, and in a single pass those that dq adds up."""
    dtype = problem.dtype
    others = {schedule.tile_queries} | (set() if schedule.single_pass else {schedule.tile_keys})
    columns = {round_up(dim, PRODUCT_COLUMNS) for dim in (problem.head_dim, problem.value_elements)}
    text = [wgmma_source(rows, dtype, dtype) for rows in sorted(others)]
    text += [wgmma_source(count, dtype, dtype, n_adjacent=True, registers_a=True) for count in sorted(columns)]
    if schedule.single_pass:
        summed, name = schedule.sum_columns(problem), "wgmma_of_columns"
        text.append(wgmma_source(summed, dtype, dtype, m_adjacent=True, n_adjacent=True, function=name))
    return "\n".join(text).rstrip()
