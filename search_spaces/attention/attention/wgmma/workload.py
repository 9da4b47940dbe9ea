"""What the blocks of a schedule by wgmma do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention.wgmma.schedule import CONSUMER_ROWS, WgmmaSchedule
from autotune.codegen.attention.tensor_maps import ROW_BYTES, boxes
from autotune.codegen.model.integers import ceil_div, largest, round_up, smallest
from autotune.codegen.model.work import Unit
from autotune.search_spaces.attention.packed_sequences import finding_clocks, finding_rounds, looking_clocks
from autotune.search_spaces.attention.tiles import (
    TileSteps,
    empty_waits,
    extremes_workload,
    stored_bytes,
    storing_clocks,
    sums_workload,
)
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload

_DRAWN = 2  # loads, as long as tickets of packed sequences take ahead of the first tile and behind the last one


@dataclass(frozen=True)
class Costs(Coefficients, section="attention.wgmma"):
    """What the steps of attention by wgmma take.

    Attributes:
        rate: share of their peak that tensor cores reach.
        pair_clocks: clocks of an SM for the weight of a pair, besides its products, if consumers take turns.
        pair_clocks_alone: the same, if not.
        pair_latency: clocks of a consumer for the weight of a pair, while the others multiply.
        step_clocks: clocks of barriers, of a consumer.
        tile_clocks: clocks of a tile of queries besides its steps: its first products, its last weights, its stores.
            The other blocks of the SM hide them.
        start_clocks: the same of a block that has no other tile, until its first products.
        apart: share of that which each further consumer takes with queries of its own.
        loaded: share of the time that threads take to load as many bytes.
    """

    rate: float
    pair_clocks: float
    pair_clocks_alone: float
    pair_latency: float
    step_clocks: float
    tile_clocks: float
    start_clocks: float
    apart: float
    loaded: float


def workload(problem: AttentionProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A tile of queries goes through tiles of keys; products and weights go on beside each other."""
    costs = Costs.of(spec)
    blocks, rows, keys = schedule.blocks(problem), schedule.block_rows, schedule.tile_keys
    packed, footprint = schedule.packed_heads(problem), schedule.footprint(problem)
    resident = resident_blocks(footprint, spec)
    of = TileSteps.of(problem, rows, keys, schedule.splits, packed=packed, together=schedule.heads_together)
    queries, looks = rows // packed, schedule.tiles(problem) * schedule.splits / max(1, of.tiles)
    finding = finding_clocks(problem, queries, 0.0 if schedule.grid_blocks else looks, spec)
    # Blocks that stay go through tiles that see no key, too, and a warp of its own looks for those that are there.
    of_block, empty, looking = 1.0, empty_waits(of, footprint, spec), 0.0
    if schedule.grid_blocks:
        most = ceil_div(of.tiles, max(1, blocks))
        of_block, empty = most + of.empty / max(1, blocks), _DRAWN * (schedule.tickets and problem.segmented)
        looking = looking_clocks(problem, queries, looks, spec, tickets=schedule.tickets)
        balanced = schedule.tickets and (problem.bounded_right or problem.segmented)
        steps = of.of_busiest(blocks) if balanced else of.average * most + of.longest - of.average
    else:
        blocks, steps = of.tiles, of.of_block(resident, spec)
    dims = round_up(problem.head_dim, 16) + round_up(problem.value_elements, 8)
    copied = (boxes(problem.head_dim) + boxes(problem.value_elements)) * ROW_BYTES
    rate = spec.rates.get(Unit.TENSOR_FP16, inf)
    # Consumers that have queries of their own sit out where these are none.
    parts = TileSteps.of(problem, schedule.query_rows, keys, schedule.splits, packed=packed).tiles
    present = parts * schedule.query_rows / max(1, of.tiles)
    multiplying = dims / rate / costs.rate
    together = min(resident, max(1.0, blocks / spec.sm_count))
    weighing = costs.pair_clocks if schedule.pingpong else costs.pair_clocks_alone
    busy = present * keys * (multiplying + weighing)
    in_turn = CONSUMER_ROWS * keys * (multiplying + costs.pair_latency) / together
    stored = smallest(rows, problem.rows * schedule.splits / largest(1, of.tiles))
    storing = storing_clocks(stored_bytes(problem, stored, schedule.splits), spec)
    tiles = of_block / steps  # one whose tile is the longest has few
    told = costs.tile_clocks * (1 + costs.apart * (schedule.consumers - 1) * schedule.queries_apart)
    told += 0.0 if schedule.grid_blocks else costs.start_clocks
    waits = (told + finding) * tiles / together
    clocks = max(busy, in_turn) + waits + schedule.consumers * costs.step_clocks + storing * tiles
    clocks = largest(clocks, looking * tiles / together)
    grid = Workload(
        blocks=blocks,
        footprint=footprint,
        memory_bytes=problem.usual_work.bytes,
        steps=steps,
        ahead=schedule.stages - 1,
        in_flight=schedule.stages - 1,
        unit_clocks=clocks,
        bytes_loaded=costs.loaded * keys * copied,
        waits=finding_rounds(problem, queries) + empty,
    )
    return (*extremes_workload(problem), grid, *sums_workload(problem, schedule.splits))
