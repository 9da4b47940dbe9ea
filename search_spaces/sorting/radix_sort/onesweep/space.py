"""radix_sort: schedules by look-back, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.hardware import WARP
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.sorting.radix_sort.fitting import digit_violations, with_digits, within_sm

# Threads of a block, keys of each, blocks on an SM, and earlier tiles looked at once. CUB's for an H100 are 384
# threads of 20 keys, or of 23 pairs (tuning_radix_sort.cuh).
_TILES = ((384, 30, 2, 2), (512, 23, 2, 2), (384, 23, 3, 2), (384, 26, 2, 2), (512, 26, 2, 2), (256, 20, 2, 2))
_SMALL_TILES = ((512, 16, 2, 4), (256, 8, 1, 4), (512, 20, 2, 4), (256, 4, 1, 8), (512, 11, 2, 4), (512, 4, 1, 8))
_MOST_BYTES = 1 << 36  # of the words of tiles, which many short rows would have
_TINY = 4096  # keys for each SM, below which blocks of few threads come first
_FEW_TILES = 2  # of each SM, with which the small ones come first


def constraints(problem: RadixSortProblem, schedule: OnesweepSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from digit_violations(schedule)
    if schedule.histogram_threads % WARP:
        yield f"histogram_threads {schedule.histogram_threads}: expected a multiple of {WARP}"
    if schedule.bins > schedule.histogram_threads:
        yield f"histogram_threads {schedule.histogram_threads} under the {schedule.bins} digits"
    yield from footprint_violations(spec, schedule.histogram_footprint(problem))
    if (needed := schedule.workspace_bytes(problem)) > _MOST_BYTES:
        yield f"{schedule.blocks(problem)} tiles, whose words take {needed} B: expected {_MOST_BYTES} B at most"


def space(problem: RadixSortProblem, spec: DeviceSpec) -> Space[OnesweepSchedule]:
    """All fields are drawn."""

    def build(draw: Draw) -> OnesweepSchedule:
        return within_sm(problem, with_digits(OnesweepSchedule.from_dict(draw)), spec)

    return Space(field_parameters(OnesweepSchedule), build)


def candidates(problem: RadixSortProblem, spec: DeviceSpec) -> Iterator[OnesweepSchedule]:
    """Tiles, those first that leave no SM idle."""
    keys = problem.rows * problem.columns
    few = keys < _FEW_TILES * spec.sm_count * _TILES[0][0] * _TILES[0][1]
    small = sorted(_SMALL_TILES, key=lambda one: one[0]) if keys < _TINY * spec.sm_count else _SMALL_TILES
    for threads, items, blocks, window in (*small, *_TILES) if few else (*_TILES, *_SMALL_TILES):
        one = OnesweepSchedule(threads, items, min_blocks_per_sm=blocks, window=window)
        yield within_sm(problem, one, spec)


def checks(problem: RadixSortProblem, schedule: OnesweepSchedule) -> list[tuple[RadixSortProblem, OnesweepSchedule]]:
    """Whole tiles of a row, and rows that end within one."""
    whole = replace(problem, rows=1, columns=2 * schedule.tile)
    return [(whole, schedule), (replace(problem, rows=2, columns=schedule.tile + schedule.tile // 2 + 1), schedule)]
