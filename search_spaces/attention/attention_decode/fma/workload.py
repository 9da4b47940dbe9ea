"""What the blocks of a schedule by fused multiply-adds do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention_decode.fma.schedule import FmaSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.work import Unit
from autotune.search_spaces.attention.attention_decode.part_costs import KernelCosts, of_parts
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


@dataclass(frozen=True)
class Costs(KernelCosts, Coefficients, section="attention_decode.fma"):
    """What the instructions of decoding by fused multiply-adds take.

    Attributes:
        unpack: instructions of an element that becomes a float.
    """

    unpack: float


def workload(problem: AttentionDecodeProblem, schedule: FmaSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Threads load some keys and values, and then multiply them by all rows."""
    costs, threads = Costs.of(spec), schedule.threads
    warps, in_flight = threads // WARP, schedule.keys_in_flight
    own = sum(schedule.own_elements(problem))
    exchanges = 2 * (schedule.lanes.bit_length() - 1)
    loads = warps * in_flight * own // schedule.vector_width
    of_key = own * costs.unpack + schedule.rows * (own + exchanges + costs.weight)
    side_by_side = schedule.lanes * schedule.vector_width * problem.dtype_of("k").bytes
    tile = Workload(
        blocks=0,
        footprint=schedule.footprint(problem),
        memory_bytes=0.0,
        instructions=warps * in_flight * of_key,
        load_instructions=loads * costs.load,
        unit_clocks=threads * in_flight * schedule.rows * own / spec.rate(Unit.FP32),
        lines=loads * WARP / schedule.lanes * max(1.0, side_by_side / LINE_BYTES),
        bytes_loaded=schedule.tile_keys * problem.key_bytes,
    )
    return of_parts(
        problem,
        schedule,
        spec,
        tile,
        costs,
        keys_of_tile=schedule.tile_keys,
        states=warps,
    )
