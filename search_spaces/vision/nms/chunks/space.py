"""nms: schedules of many blocks, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.vision.nms.chunks.schedule import ChunksSchedule
from autotune.codegen.vision.nms.problem import NmsProblem
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_SPECS = field_specs(ChunksSchedule)
_CHUNKS: tuple[int, ...] = _SPECS["chunk"].values
_MOST_MASK_BYTES = 1 << 30
_CHECKED = 128  # boxes of a chunk in the emulator
_RESIDENT = 4  # blocks of an SM that compare


def constraints(problem: NmsProblem, schedule: ChunksSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its footprint: more than a grid has, or masks of over 1 GiB."""
    if (blocks := max(schedule.compare_blocks(problem), schedule.gather_blocks(problem))) > INT_MAX:
        yield f"{blocks} blocks over the {INT_MAX} of a grid"
    found = problem.images * schedule.mask_bytes(problem.candidates)
    if found > _MOST_MASK_BYTES:
        yield f"chunk {schedule.chunk} of {problem.images} images: masks of {found} B over {_MOST_MASK_BYTES}"


def space(problem: NmsProblem, spec: DeviceSpec) -> Space[ChunksSchedule]:
    """Chunks that `_chunks` has."""
    return Space(field_parameters(ChunksSchedule, chunk=_chunks(problem)), ChunksSchedule.from_dict)


def _chunks(problem: NmsProblem) -> tuple[int, ...]:
    """Chunks up to one that has all boxes of an image, and whose masks are not too large."""
    first, *larger = _CHUNKS
    enough = next((few for few in _CHUNKS if few >= problem.candidates), _CHUNKS[-1])
    room = _MOST_MASK_BYTES // max(1, problem.images)
    return first, *(
        chunk for chunk in larger if chunk <= enough and ChunksSchedule(chunk).mask_bytes(problem.candidates) <= room
    )


def candidates(problem: NmsProblem, spec: DeviceSpec) -> Iterator[ChunksSchedule]:
    """As few launches as may be, and blocks for all SMs, then others."""
    chunk, *smaller = reversed(_chunks(problem))
    wanted = max(1, _RESIDENT * spec.sm_count // max(1, problem.images))
    blocks = max(some for some in _SPECS["blocks_per_image"].values if some <= max(8, wanted))
    first = ChunksSchedule(chunk, blocks_per_image=blocks, sweep_threads=1024)
    yield first
    yield from (first.replace(sweep_threads=threads) for threads in (512, 256))
    yield from (first.replace(threads=threads) for threads in (128, 512))
    yield from (first.replace(chunk=other) for other in smaller)


def checks(problem: NmsProblem, schedule: ChunksSchedule) -> list[tuple[NmsProblem, ChunksSchedule]]:
    """Two chunks, and a chunk and a half of several images, of boxes that are soon compared."""
    few = schedule.replace(chunk=_CHECKED, blocks_per_image=2)
    whole = replace(problem, candidates=2 * _CHECKED, images=1, max_output=2 * _CHECKED)
    edges = replace(problem, candidates=_CHECKED + _CHECKED // 2 + 1, images=2, max_output=_CHECKED // 2)
    return [(one, few) for one in (whole, edges)]
