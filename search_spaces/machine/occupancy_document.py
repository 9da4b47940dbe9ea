"""What an SM holds of a kernel, as JSON values."""

from __future__ import annotations

from typing import Any

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP

from .device_spec import DeviceSpec
from .occupancy import blocks_by_limiter, occupancy
from .occupancy_steps import Resource, most_for_blocks, steps


def occupancy_document(spec: DeviceSpec, entry: str, block: Footprint) -> dict[str, Any]:
    """The occupancy of a kernel and of its like; docs/command-line.md says what each member is."""
    takes = (block.threads, block.registers, block.shared_bytes)
    found, allowed = occupancy(spec, *takes), blocks_by_limiter(spec, *takes)
    return {
        "entry": entry,
        "device": spec.name,
        "blocks_per_sm": found.blocks_per_sm,
        "most_blocks_per_sm": spec.blocks_per_sm,
        "warps_per_sm": found.warps_per_sm,
        "most_warps_per_sm": spec.threads_per_sm // WARP,
        "fraction": found.fraction,
        "limiters": found.limiters,
        "resources": {
            str(resource): {
                "of_block": getattr(block, resource),
                "blocks": allowed[resource.limiter],
                "most_for_one_more": most_for_blocks(spec, block, resource, found.blocks_per_sm + 1),
                "steps": [step._asdict() for step in steps(spec, block, resource)],
            }
            for resource in Resource
        },
    }
