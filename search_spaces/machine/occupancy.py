"""Occupancy: how many blocks of a kernel an SM holds at once, and which resource forbids one more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div, round_up

from .device_spec import DeviceSpec

# An SM is four partitions with a warp scheduler and a quarter of the registers each, on every architecture since sm_70.


class Limiter(StrEnum):
    """A resource of which one more block would need too much."""

    WARPS = "warps"
    REGISTERS = "registers"
    SHARED_MEMORY = "shared memory"
    BLOCKS = "blocks"


@dataclass(frozen=True)
class Occupancy:
    """What one SM holds at once.

    Attributes:
        blocks_per_sm: resident blocks; 0 if not even one fits, so that a launch would fail.
        warps_per_sm: resident warps.
        fraction: resident warps as a share of the most that an SM may hold, 0 to 1.
        limiters: the resources that allow no more blocks than that.
    """

    blocks_per_sm: int
    warps_per_sm: int
    fraction: float
    limiters: tuple[Limiter, ...]


def occupancy(spec: DeviceSpec, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Resident blocks of a kernel on one SM, by the rules of NVIDIA's occupancy calculator.

    The rules are those of cudaOccMaxActiveBlocksPerMultiprocessor in cuda_occupancy.h of the CUDA Toolkit.

    Args:
        spec: the device.
        threads: threads of a block.
        registers: 32-bit registers of a thread.
        shared_bytes: static and dynamic shared memory of a block.

    Raises:
        ValueError: a block without threads, or a negative amount.
    """
    warps = ceil_div(threads, WARP)
    warp_limit = spec.threads_per_sm // WARP
    blocks = blocks_by_limiter(spec, threads, registers, shared_bytes)
    fewest = min(blocks.values())
    return Occupancy(
        blocks_per_sm=fewest,
        warps_per_sm=fewest * warps,
        fraction=fewest * warps / warp_limit,
        limiters=tuple(limiter for limiter, count in blocks.items() if count == fewest),
    )


def blocks_by_limiter(spec: DeviceSpec, threads: int, registers: int, shared_bytes: int) -> dict[Limiter, int]:
    """How many blocks each resource of an SM allows, were it the only one.

    Raises:
        ValueError: a block without threads, or a negative amount.
    """
    if threads < 1 or registers < 0 or shared_bytes < 0:
        raise ValueError(
            f"threads={threads}, registers={registers}, shared_bytes={shared_bytes}: expected at least 1, 0 and 0"
        )
    return {
        Limiter.WARPS: _blocks_by_warps(spec, threads),
        Limiter.REGISTERS: _blocks_by_registers(spec, ceil_div(threads, WARP), registers),
        Limiter.SHARED_MEMORY: _blocks_by_shared_memory(spec, shared_bytes),
        Limiter.BLOCKS: spec.blocks_per_sm,
    }


def blocks_per_sm(spec: DeviceSpec, threads: int, registers: int, shared_bytes: int) -> int:
    """`Occupancy.blocks_per_sm` alone, in a third of the time."""
    by_registers = _blocks_by_registers(spec, ceil_div(threads, WARP), registers)
    by_shared_memory = _blocks_by_shared_memory(spec, shared_bytes)
    return min(_blocks_by_warps(spec, threads), by_registers, by_shared_memory, spec.blocks_per_sm)


def fitting_blocks(footprint: Footprint, spec: DeviceSpec, allowed: Iterable[int]) -> int:
    """The most of the allowed numbers of blocks that fit on an SM, up to what launch bounds ask for; 1 if none does."""
    resident = blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
    return max((blocks for blocks in allowed if blocks <= min(footprint.min_blocks_per_sm, resident)), default=1)


def most_registers(spec: DeviceSpec, threads: int, min_blocks: int) -> int:
    """Registers that a thread may have so that `min_blocks` blocks fit on an SM, as ``__launch_bounds__`` asks for."""
    unit = spec.register_unit // WARP
    return min(spec.registers_per_sm // (threads * min_blocks) // unit * unit, spec.registers_per_thread)


def _blocks_by_warps(spec: DeviceSpec, threads: int) -> int:
    if threads > spec.threads_per_block:
        return 0
    return spec.threads_per_sm // WARP // ceil_div(threads, WARP)


def _blocks_by_registers(spec: DeviceSpec, warps: int, registers: int) -> int:
    if registers == 0:
        return spec.blocks_per_sm
    per_warp = round_up(registers * WARP, spec.register_unit)
    # The launch check counts a block's warps as if they filled all partitions evenly.
    per_block = per_warp * round_up(warps, SCHEDULERS)
    if registers > spec.registers_per_thread or per_block > spec.registers_per_block:
        return 0
    warps_per_partition = spec.registers_per_sm // SCHEDULERS // per_warp
    return warps_per_partition * SCHEDULERS // warps


def _blocks_by_shared_memory(spec: DeviceSpec, shared_bytes: int) -> int:
    if shared_bytes > spec.shared_per_block:
        return 0
    per_block = round_up(shared_bytes + spec.shared_reserved, spec.shared_unit)
    return spec.shared_per_sm // per_block if per_block else spec.blocks_per_sm


def resident_blocks(footprint: Footprint, spec: DeviceSpec) -> int:
    """Blocks that an SM holds at once, with no more registers than launch bounds allow; 1 where not even one fits."""
    registers = min(footprint.uncapped_registers, most_registers(spec, footprint.threads, footprint.min_blocks_per_sm))
    return max(1, blocks_per_sm(spec, footprint.threads, registers, footprint.shared_bytes))
