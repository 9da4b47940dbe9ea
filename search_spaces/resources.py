"""What a block of a schedule needs of a device, before it is compiled."""

from __future__ import annotations

from collections.abc import Iterator

from .device_spec import DeviceSpec
from .occupancy import occupancy

_UINT_MAX = 2**32 - 1


def resource_violations(
    limits: DeviceSpec, threads: int, registers: int, shared_bytes: int, min_blocks_per_sm: int
) -> Iterator[str]:
    """The first resource that `min_blocks_per_sm` blocks on an SM would take too much of; nothing if they fit.

    Args:
        limits: the device.
        threads: threads of a block.
        registers: an estimate of the registers of a thread.
        shared_bytes: shared memory of a block.
        min_blocks_per_sm: blocks that an SM must hold.
    """
    if threads > limits.threads_per_block:
        yield f"{threads} threads over the {limits.threads_per_block} of a block"
    elif shared_bytes > limits.shared_per_block:
        yield f"shared memory {shared_bytes} B over the {limits.shared_per_block} B a block may have on {limits.arch}"
    elif registers > limits.registers_per_thread:
        yield f"about {registers} registers over the {limits.registers_per_thread} of a thread"
    else:
        fit = occupancy(limits, threads, registers, shared_bytes)
        if fit.blocks_per_sm < min_blocks_per_sm:
            yield (
                f"min_blocks_per_sm {min_blocks_per_sm} over the {fit.blocks_per_sm} blocks of {threads} threads, "
                f"about {registers} registers and {shared_bytes} B of shared memory that an SM holds, "
                f"by its {' and '.join(fit.limiters)}"
            )


def group_violations(raster_group: int, tiles_n: int) -> Iterator[str]:
    """Groups of rows of tiles with more tiles than `grouped_tile` (codegen/cuda/tile_order.cuh) counts."""
    if raster_group * tiles_n > _UINT_MAX:
        yield f"{raster_group} rows of {tiles_n} tiles in a group (raster_group) are over {_UINT_MAX} tiles"
