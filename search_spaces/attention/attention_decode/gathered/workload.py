"""What the blocks of a schedule that gathers keys do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.attention.attention_decode.gathered.packed import packed
from autotune.codegen.attention.attention_decode.gathered.schedule import TILE_KEYS, GatheredSchedule, GatherSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.attention.attention.wgmma import KERNEL as WGMMA
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


def workload(problem: AttentionDecodeProblem, schedule: GatheredSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """All keys are read and written once; attention of packed sequences, which have as many keys together."""
    keys = sum(problem.seen_keys)
    moved = keys * problem.kv_heads * problem.key_bytes
    tile = TILE_KEYS * problem.kv_heads * problem.key_bytes
    copies = GatherSchedule()
    gather = Workload(
        blocks=copies.blocks(problem),
        footprint=copies.footprint(problem),
        memory_bytes=2 * moved,
        bytes_loaded=tile,
        bytes_stored=tile,
    )
    attend, *others = WGMMA.workload(packed(problem, max(1, keys)), schedule, spec)
    if not schedule.grid_blocks:  # requests have as many queries: none begins an additional tile
        tiles = problem.batch * problem.heads * ceil_div(problem.queries, schedule.block_rows)
        attend = replace(attend, blocks=tiles * schedule.splits)
    return (gather, attend, *others)
