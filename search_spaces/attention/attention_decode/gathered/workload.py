"""What the blocks of a schedule that gathers keys do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.attention.attention_decode.gathered.packed import packed
from autotune.codegen.attention.attention_decode.gathered.schedule import TILE_KEYS, GatheredSchedule, GatherSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.integers import ceil_div, largest
from autotune.search_spaces.attention.attention.wgmma import KERNEL as WGMMA
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(Coefficients, section="attention_decode.gathered"):
    """What gathering takes.

    Attributes:
        waits: what its blocks wait for in turn, in latencies of loads: lengths, pages and instructions.
    """

    waits: float


def workload(problem: AttentionDecodeProblem, schedule: GatheredSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """All keys are read and written once; attention of packed sequences, which have as many keys together."""
    keys = sum(count * problem.reached(length) for count, length in problem.usual_lengths)
    moved = keys * problem.kv_heads * problem.key_bytes
    tile = TILE_KEYS * problem.kv_heads * problem.key_bytes
    copies = GatherSchedule()
    gather = Workload(
        blocks=copies.blocks(problem),
        footprint=copies.footprint(problem),
        memory_bytes=2 * moved,
        bytes_loaded=tile,
        bytes_stored=tile,
        waits=Costs.of(spec).waits,
    )
    attend, *others = WGMMA.workload(packed(problem, largest(1, keys)), schedule, spec)
    if not schedule.grid_blocks:  # requests have as many queries: none begins an additional tile
        tiles = problem.batch * problem.heads * ceil_div(problem.queries, schedule.block_rows)
        attend = replace(attend, blocks=tiles * schedule.splits)
    return (gather, attend, *others)
