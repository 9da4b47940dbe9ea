"""nms: schedules of many blocks, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.vision.nms.chunks.schedule import ChunksSchedule
from autotune.codegen.vision.nms.layout import MASK_BYTES, TILE
from autotune.codegen.vision.nms.problem import NmsProblem
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_CHUNKS: tuple[int, ...] = field_specs(ChunksSchedule)["chunk"].values
_THREADS: tuple[int, ...] = field_specs(ChunksSchedule)["threads"].values
_MOST_MASK_BYTES = 1 << 27
_FIRST, _CHECKED = 2048, 128  # boxes of a chunk that are tried first, and in the emulator
_FIRST_THREADS = 256


def constraints(problem: NmsProblem, schedule: ChunksSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its footprint: masks of over 128 MiB, unless chunks are tiles."""
    found = problem.images * schedule.tiles * schedule.chunk * MASK_BYTES
    if schedule.chunk > TILE and found > _MOST_MASK_BYTES:
        yield f"chunk {schedule.chunk} of {problem.images} images: masks of {found} B over {_MOST_MASK_BYTES}"


def space(problem: NmsProblem, spec: DeviceSpec) -> Space[ChunksSchedule]:
    """Chunks that `_chunks` has."""
    return Space(field_parameters(ChunksSchedule, chunk=_chunks(problem, spec)), ChunksSchedule.from_dict)


def _chunks(problem: NmsProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """Chunks up to one that has all boxes of an image, and whose masks are not too large."""
    enough = next((few for few in _CHUNKS if few >= problem.candidates), _CHUNKS[-1])
    some = (chunk for chunk in _CHUNKS if chunk <= enough)
    return tuple(one for one in some if not any(constraints(problem, ChunksSchedule(one), spec))) or (TILE,)


def candidates(problem: NmsProblem, spec: DeviceSpec) -> Iterator[ChunksSchedule]:
    """Chunks whose launches are few and whose masks are small, then others."""
    chunks = _chunks(problem, spec)
    chunk = max((one for one in chunks if one <= _FIRST), default=chunks[0])
    yield ChunksSchedule(chunk, _FIRST_THREADS)
    yield from (ChunksSchedule(other, _FIRST_THREADS) for other in reversed(chunks) if other != chunk)
    yield from (ChunksSchedule(chunk, threads) for threads in _THREADS if threads != _FIRST_THREADS)


def checks(problem: NmsProblem, schedule: ChunksSchedule) -> list[tuple[NmsProblem, ChunksSchedule]]:
    """Two chunks, and a chunk and a half of several images, of boxes that are soon compared."""
    few = schedule.replace(chunk=_CHECKED)
    whole = replace(problem, candidates=2 * _CHECKED, images=1, max_output=2 * _CHECKED)
    edges = replace(problem, candidates=_CHECKED + _CHECKED // 2 + 1, images=2, max_output=_CHECKED // 2)
    return [(one, few) for one in (whole, edges)]
