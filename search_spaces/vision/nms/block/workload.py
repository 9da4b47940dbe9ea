"""nms: what a block does for the boxes of an image."""

from __future__ import annotations

from math import log2

from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.vision.nms.block.schedule import BlockSchedule
from autotune.codegen.vision.nms.layout import candidate_bytes
from autotune.codegen.vision.nms.problem import NmsProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

_COMPARISON, _EXCHANGE = 10, 12  # instructions
_CHUNK = 2000  # instructions that wait for each other, of a chunk: barriers, and the choice of those that are kept


def workload(problem: NmsProblem, schedule: BlockSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """All blocks of a cluster sort, and share the comparisons of the boxes up to the last that is kept."""
    boxes = min(problem.candidates, problem.most_kept + schedule.chunk)
    compared = _COMPARISON * boxes * boxes / 2 / WARP / schedule.cluster
    sorted_ = _EXCHANGE * schedule.slots / WARP * log2(schedule.slots) ** 2 / 2
    chunks = -(-boxes // schedule.chunk)
    loaded = boxes * candidate_bytes(problem)
    return (
        Workload(
            schedule.blocks(problem),
            schedule.footprint(problem),
            problem.tensor_bytes,
            instructions=compared + sorted_ + _CHUNK * chunks,
            load_instructions=4 * boxes / WARP,
            lines=loaded / LINE_BYTES,
            bytes_loaded=loaded,
        ),
    )
