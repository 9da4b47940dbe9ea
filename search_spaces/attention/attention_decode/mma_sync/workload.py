"""What the blocks of a schedule by tensor cores do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.attention.attention_decode.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.cache import Cache
from autotune.codegen.matmul.tensor_unit import unit_of
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.attention.attention_decode.part_costs import KernelCosts, of_parts
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

_PRODUCT_PAIRS = 16 * 8 * 16  # multiply-adds of a product
_CHUNK, _COLUMNS = 32, 64  # elements of keys that four lanes load together, and columns of values that eight do
_EIGHT = 8  # elements that a lane has side by side
_DECODED = {Cache.FP8: 0.5, Cache.INT8: 1.25}  # instructions of a code that becomes a number
_VALUES_IN_KEYS = 1.35  # times as long as device memory takes an H200 for other keys, whatever else a block does
_SUMS_BYTES = 16 * 8 * 4  # of a product, which a warp stores, and all warps of a block read


@dataclass(frozen=True)
class Costs(KernelCosts, Coefficients, section="attention_decode.mma_sync"):
    """What the instructions of decoding by tensor cores take.

    Attributes:
        tile: instructions of a tile of a warp for each 64 columns of its values, whatever keys it has.
        exchange: clocks in which warps that share keys wait for the products of each of them.
    """

    tile: float
    exchange: float


def workload(problem: AttentionDecodeProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Warps load tiles of keys and values, ahead if there are stages, multiply them and weigh scores in turn."""
    costs = Costs.of(spec)
    if schedule.values_in_keys(problem):
        costs = replace(costs, memory=_VALUES_IN_KEYS * costs.memory)
    warps, keys = schedule.threads // WARP, schedule.warp_keys
    head_warps = warps // schedule.key_warps
    chunks = ceil_div(problem.head_dim, _CHUNK * head_warps)
    groups = ceil_div(problem.value_elements, _COLUMNS * head_warps)
    of_keys, of_values = keys // 8 * 2 * chunks, keys // 16 * 8 * groups  # products of a warp
    vectors = keys // 8 * chunks + keys // 4 * groups  # of eight elements, of a lane
    copied = keys // 8 * chunks if schedule.values_in_keys(problem) else vectors
    loads = warps * copied * _EIGHT // schedule.vector_width
    # Pairs of two keys' values are made for each product: those of codes, of four at once. Sums are multiplied where
    # the largest score grows, which is seldom.
    computed = of_keys + (2 if problem.quantised else 3) * of_values + keys / 2 * costs.weight + costs.tile * groups
    element_bytes = problem.dtype_of("k").bytes
    vector_bytes = warps * WARP * _EIGHT * element_bytes
    if problem.quantised:
        computed += vectors * _EIGHT * _DECODED[problem.cache]
    shared_bytes = 0
    if schedule.stages:
        computed += vectors
        shared_bytes += (copied + vectors) * vector_bytes
    if schedule.share_keys:
        shared_bytes += warps * (1 + warps) * keys // 8 * _SUMS_BYTES
    tile = Workload(
        blocks=0,
        footprint=schedule.footprint(problem),
        memory_bytes=0.0,
        ahead=max(0, schedule.stages - 1),
        in_flight=max(0, schedule.stages - 1),
        instructions=warps * computed,
        load_instructions=loads * costs.load,
        exposed_clocks=costs.exchange * warps * schedule.share_keys,
        unit_clocks=warps * (of_keys + of_values) * _PRODUCT_PAIRS / spec.rate(unit_of(problem.dtype)),
        shared_clocks=shared_bytes / LINE_BYTES,
        lines=loads * max(1.0, WARP * schedule.vector_width * element_bytes / LINE_BYTES),
        bytes_loaded=schedule.tile_keys * problem.key_bytes,
    )
    return of_parts(
        problem,
        schedule,
        spec,
        tile,
        costs,
        keys_of_tile=schedule.tile_keys,
        states=schedule.key_warps,
    )
