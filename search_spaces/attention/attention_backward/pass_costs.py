"""What passes of attention_backward take, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from autotune.codegen.attention.attention_backward.emit import statistics_footprint
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.search_spaces.attention.tiles import TileSteps, extremes_workload, storing_clocks
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(Coefficients, section="attention_backward"):
    """What the steps of a pass take.

    Attributes:
        rate: share of their peak that tensor cores reach; that of sm_90 takes wgmma.
        pair_clocks: clocks of an SM for the weight of a pair and its gradient, beside products.
        sum_clocks: the same for each column of dq that it adds to sums, in a single pass.
        step_clocks: clocks of barriers, and of the first and the last products of a step. Other blocks hide them.
        tile_clocks: clocks of a tile besides its steps, likewise.
    """

    rate: float
    pair_clocks: float
    sum_clocks: float
    step_clocks: float
    tile_clocks: float


def pass_workload(
    problem: AttentionBackwardProblem,
    spec: DeviceSpec,
    footprint: Footprint,
    tile: tuple[int, int],
    columns: int,
    *,
    of_keys: bool,
    heads_together: int,
    in_flight: int,
    summed: int = 0,
) -> Workload:
    """A pass whose blocks have `tile` own rows and others of a stage; `columns` are multiplied and added for a pair."""
    costs, (rows, others) = Costs.of(spec), tile
    own, met = (problem.keys, problem.queries) if of_keys else (problem.queries, problem.keys)
    heads, heads_met = (problem.all_heads // problem.group, problem.group) if of_keys else (problem.all_heads, 1)
    of = (TileSteps.of_keys if of_keys else TileSteps.of)(problem, rows, others, together=heads_together)
    steps = of.of_block(resident_blocks(footprint, spec), spec) * heads_met
    together = max(1, footprint.min_blocks_per_sm)
    multiplying = rows * others * columns / spec.rates.get(Unit.TENSOR_FP16, inf) / costs.rate
    weighing = rows * others * (costs.pair_clocks + costs.sum_clocks * summed)
    apart = (costs.step_clocks + costs.tile_clocks / (of.average * heads_met)) / together
    bytes_of_row = (problem.head_dim + problem.value_elements) * problem.dtype.bytes
    storing = storing_clocks(rows * bytes_of_row, spec) / (of.average * heads_met)
    return Workload(
        blocks=of.tiles,
        footprint=footprint,
        memory_bytes=2 * (heads * own + problem.all_heads * met / problem.group) * bytes_of_row,
        steps=steps,
        ahead=in_flight,
        in_flight=in_flight,
        unit_clocks=multiplying + weighing + apart + storing,
        bytes_loaded=others * bytes_of_row,
    )


def row_workload(rows: int, bytes_of_row: float, block_rows: int, footprint: Footprint) -> Workload:
    """A launch that reads and writes rows once."""
    return Workload(
        blocks=ceil_div(rows, block_rows),
        footprint=footprint,
        memory_bytes=rows * bytes_of_row,
        bytes_loaded=block_rows * bytes_of_row,
    )


def around(problem: AttentionBackwardProblem, *passes: Workload) -> tuple[Workload, ...]:
    """The launches of a program in order: ranges of a table, statistics, passes and, with sinks, their gradients."""
    footprint, rows = statistics_footprint(), problem.rows
    statistics = row_workload(rows, 2 * problem.value_elements * problem.dtype.bytes, 32, footprint)
    sinks = row_workload(rows, 8, max(1, rows // problem.heads), footprint)
    return (*extremes_workload(problem), statistics, *passes, *([sinks] if problem.sinks else []))
