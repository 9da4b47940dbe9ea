"""What a block of a schedule needs of a device, before it is compiled."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import INT_MAX

from .device_spec import DeviceSpec
from .occupancy import occupancy

_UINT_MAX = 2**32 - 1
CLUSTERS_SINCE = BULK_COPIES_SINCE = (9, 0)  # compute capability


def footprint_violations(spec: DeviceSpec, footprint: Footprint) -> Iterator[str]:
    """The first resource of which a block, or so many blocks as an SM must hold, would take too much."""
    threads, registers, shared_bytes = footprint.threads, footprint.registers, footprint.shared_bytes
    least = footprint.min_blocks_per_sm
    if footprint.architecture and footprint.architecture.removesuffix(footprint.arch_suffix) != spec.arch:
        yield f"instructions of {footprint.architecture} are not those of {spec.arch}"
    elif footprint.cluster > 1 and spec.compute_capability < CLUSTERS_SINCE:
        yield f"a cluster of {footprint.cluster} blocks needs sm_90 or newer, not {spec.arch}"
    elif threads > spec.threads_per_block:
        yield f"{threads} threads over the {spec.threads_per_block} of a block"
    elif shared_bytes > spec.shared_per_block:
        yield f"shared memory {shared_bytes} B over the {spec.shared_per_block} B a block may have on {spec.arch}"
    elif registers > spec.registers_per_thread:
        yield f"about {registers} registers over the {spec.registers_per_thread} of a thread"
    else:
        fit = occupancy(spec, threads, registers, shared_bytes)
        if fit.blocks_per_sm < least:
            yield (
                f"min_blocks_per_sm {least} over the {fit.blocks_per_sm} blocks of {threads} threads, about "
                f"{registers} registers and {shared_bytes} B of shared memory that an SM holds, by its "
                f"{' and '.join(fit.limiters)}"
            )


def grid_violations(blocks: int) -> Iterator[str]:
    """More blocks than a grid may have."""
    if blocks > INT_MAX:
        yield f"{blocks} blocks over the {INT_MAX} of a grid"


def group_violations(raster_group: int, tiles_n: int) -> Iterator[str]:
    """Groups of rows of tiles with more tiles than `grouped_tile` (codegen/cuda/tile_order.cuh) counts."""
    if raster_group * tiles_n > _UINT_MAX:
        yield f"{raster_group} rows of {tiles_n} tiles in a group (raster_group) are over {_UINT_MAX} tiles"
