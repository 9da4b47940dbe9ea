"""What the blocks of a schedule by wgmma do, counted before anything is compiled. Not fitted yet."""

from __future__ import annotations

from math import inf

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.work import Unit
from autotune.search_spaces.attention.attention.tiles import seen_keys
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

_RATE = 0.8  # share of their peak that tensor cores reach
_PAIR_CLOCKS = 0.083  # of an SM, for the weight of a pair: its power, and what else is issued for it
_EXPOSED, _EXPOSED_ALONE = (
    0.4,
    0.7,
)  # share of the shorter of products and weights that is not hidden: with turns or not
_STEP_CLOCKS = 120.0  # of barriers
_LOADED = 0.575  # share of the time that threads take to load as many bytes


def workload(problem: AttentionProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """A tile of queries goes through tiles of keys; products and weights go on beside each other."""
    tiles, blocks = schedule.tiles(problem), schedule.blocks(problem)
    rows, keys = schedule.block_rows, schedule.tile_keys
    steps = max(1.0, seen_keys(problem, rows, keys) / keys) * tiles / max(1, blocks)
    dims = round_up(problem.head_dim, 16) + round_up(problem.value_elements, 8)
    rate = spec.rates.get(Unit.TENSOR_FP16, inf)
    multiplying, weighing = rows * keys * dims / rate / _RATE, rows * keys * _PAIR_CLOCKS
    exposed = _EXPOSED if schedule.pingpong else _EXPOSED_ALONE
    clocks = max(multiplying, weighing) + exposed * min(multiplying, weighing) + _STEP_CLOCKS
    grid = Workload(
        blocks=blocks,
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        steps=steps,
        ahead=schedule.stages - 1,
        in_flight=max(1, schedule.stages - 1),
        unit_clocks=clocks,
        bytes_loaded=_LOADED * keys * dims * problem.dtype.bytes,
        bytes_stored=rows * problem.value_elements * problem.dtype.bytes * tiles / max(1, blocks),
    )
    return (grid,)
