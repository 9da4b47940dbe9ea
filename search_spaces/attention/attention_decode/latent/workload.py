"""What the blocks of a schedule for latent keys do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from autotune.codegen.attention.attention_decode.latent.schedule import STAGES, LatentSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.attention.attention_decode.part_costs import KernelCosts, of_parts
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(KernelCosts, Coefficients, section="attention_decode.latent"):
    """What decoding with latent keys takes.

    Attributes:
        rate: share of their peak that tensor cores reach.
        tile_clocks: clocks of a tile in which they wait for weights.
    """

    rate: float
    tile_clocks: float


def workload(problem: AttentionDecodeProblem, schedule: LatentSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Tiles of keys are copied, multiplied by queries, weighed, and multiplied as values in turn."""
    costs = Costs.of(spec)
    pairs = schedule.rows * schedule.tile_keys * (problem.head_dim + problem.value_elements)
    tile = Workload(
        blocks=0,
        footprint=schedule.footprint(problem),
        memory_bytes=0.0,
        ahead=STAGES - 1,
        in_flight=STAGES - 1,
        unit_clocks=pairs / spec.rates.get(Unit.TENSOR_FP16, inf) / costs.rate + costs.tile_clocks,
        bytes_loaded=schedule.tile_keys * problem.key_bytes,
    )
    return of_parts(problem, schedule, spec, tile, costs, keys_of_tile=schedule.tile_keys, states=0)
