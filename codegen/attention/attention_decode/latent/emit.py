"""The program of a schedule for latent keys by wgmma."""

from __future__ import annotations

from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.tensor_maps import head_map
from autotune.codegen.model.program import Program
from autotune.codegen.source.wgmma import wgmma_source

from .schedule import CONSUMERS, LatentSchedule


def emit(problem: AttentionDecodeProblem, schedule: LatentSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    dtype, columns = problem.dtype, problem.value_elements // CONSUMERS
    of_values = (
        wgmma_source(columns, dtype, dtype, n_adjacent=True, registers_a=registers, function="wgmma_values")
        for registers in (True, False)
    )
    maps = [head_map(problem, "k", min(problem.page or schedule.tile_keys, schedule.tile_keys))]
    if problem.queries == 1:
        maps.append(head_map(problem, "q", schedule.rows, heads=schedule.rows))
    return schedule.program(
        problem,
        "latent/latent",
        "decode_latent_block",
        facts={"rescale_rarely": False},
        maps=maps,
        text="\n".join((wgmma_source(schedule.tile_keys, dtype, dtype), *of_values)).rstrip(),
    )
