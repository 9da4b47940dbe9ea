"""The ladder of decoding kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program

from .emit import emit_naive
from .fma.emit import emit
from .fma.schedule import FmaSchedule
from .mma_sync.emit import emit as emit_mma_sync
from .mma_sync.schedule import MmaSyncSchedule
from .parts import Parts
from .problem import AttentionDecodeProblem

_VECTORS = (8, 4, 2, 1)
_PART_KEYS = 512  # of the second version of PagedAttention
_ROWS, _KEYS_IN_FLIGHT = 4, 4
S = TypeVar("S", bound=Parts)


def by_row(problem: AttentionDecodeProblem) -> FmaSchedule:
    """A block has a row of a request, and its warps a key each: no more than a vector for each lane."""
    own = max(1, min(problem.head_dim, problem.value_elements) // WARP)
    return FmaSchedule(vector_width=next(one for one in _VECTORS if one <= min(problem.widest, own)))


def in_parts(problem: AttentionDecodeProblem, schedule: S) -> S:
    """The same with other blocks for each 512 keys of a request."""
    tiles = ceil_div(_PART_KEYS, schedule.tile_keys)
    return schedule.replace(splits=max(1, ceil_div(problem.keys, tiles * schedule.tile_keys)), part_tiles=tiles)


def grouped(problem: AttentionDecodeProblem) -> FmaSchedule:
    """Rows of heads that share keys in one block, whose threads load several keys ahead."""
    rows = max(1, min(_ROWS, problem.group * problem.queries))
    return in_parts(problem, by_row(problem).replace(rows=rows, keys_in_flight=_KEYS_IN_FLIGHT))


def tensor_cores(problem: AttentionDecodeProblem) -> Program:
    """Products by tensor cores; where heads are aligned to an element, by fused multiply-adds."""
    width = next(one for one in _VECTORS if one <= problem.widest)
    if width == 1:
        return emit(problem, grouped(problem))
    return emit_mma_sync(problem, in_parts(problem, MmaSyncSchedule(vector_width=width)))


PRESETS: Mapping[str, Callable[[AttentionDecodeProblem], Program]] = {
    "naive": emit_naive,
    "paged_v1": lambda problem: emit(problem, by_row(problem)),
    "paged_v2": lambda problem: emit(problem, in_parts(problem, by_row(problem))),
    "grouped": lambda problem: emit(problem, grouped(problem)),
    "tensor_cores": tensor_cores,
}
