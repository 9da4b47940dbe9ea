"""Decoding with latent keys by wgmma: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention.wgmma.schedule import ARCHITECTURE, PRODUCT_K
from autotune.codegen.attention.attention_decode.latent.schedule import CONSUMERS, LatentSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.tensor_maps import ROW_BYTES
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.search_spaces.attention.attention_decode.shares import changing_bits, shared, space_of_shares
from autotune.search_spaces.attention.attention_decode.splits import cut, most_splits, on_few_blocks, small_parts
from autotune.search_spaces.attention.tensor_maps import unmapped
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_MOST_VALUES = 512  # elements: more sums than the registers of two warpgroups have room for
_SWIZZLED_ROWS = 8  # of a box, which pages do not divide
_PART_TILES = 4  # of a part at least


def constraints(problem: AttentionDecodeProblem, schedule: LatentSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from changing_bits(problem, schedule)
    yield from _objections(problem)
    if schedule.multicast and not _may_share(problem):
        rows = schedule.row_tiles(problem)
        yield f"multicast: expected an even number of tiles of rows, not {rows}, that see the same keys"


def _may_share(problem: AttentionDecodeProblem) -> bool:
    """Whether blocks of two tiles of rows read the same keys."""
    return LatentSchedule().row_tiles(problem) % 2 == 0 and not problem.bounded_right


def _objections(problem: AttentionDecodeProblem) -> Iterator[str]:
    """What the kernel does not compute."""
    halves = CONSUMERS * ROW_BYTES // problem.dtype.bytes
    if not problem.latent or problem.bounded_left:
        yield "keys: expected latent ones, without a window on the left"
        return
    if problem.head_dim % PRODUCT_K or problem.value_elements % halves or problem.value_elements > _MOST_VALUES:
        yield (
            f"heads of {problem.head_dim} and {problem.value_elements} elements: "
            f"expected multiples of {PRODUCT_K} and {halves}, {_MOST_VALUES} values at most"
        )
    tile = LatentSchedule.tile_keys
    if problem.page and (problem.page % _SWIZZLED_ROWS or (tile % problem.page and problem.page % tile)):
        yield f"pages of {problem.page}: expected {_SWIZZLED_ROWS} to {tile} by powers of two, or multiples of {tile}"
    yield from unmapped(problem, "q", "k", "o")


def applies(problem: AttentionDecodeProblem, spec: DeviceSpec) -> bool:
    """Whether the device has wgmma, and tensor copies take latent keys and their pages."""
    fits = LatentSchedule().footprint(problem).shared_bytes <= spec.shared_per_block
    return ARCHITECTURE.startswith(spec.arch) and problem.rows > 0 and fits and not any(_objections(problem))


def space(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Space[LatentSchedule]:
    """All fields are drawn; parts are no smaller than a tile."""
    return space_of_shares(problem, spec, LatentSchedule, field_parameters(LatentSchedule), _fitted)


def _fitted(problem: AttentionDecodeProblem, schedule: LatentSchedule, spec: DeviceSpec) -> LatentSchedule:
    splits = min(schedule.splits, most_splits(problem, schedule.tile_keys))
    return replace(schedule, splits=splits, multicast=schedule.multicast and _may_share(problem))


def candidates(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Iterator[LatentSchedule]:
    """As many parts as give every SM a block. An H200 reads keys that two blocks have twice as fast as once."""
    usual = LatentSchedule()
    for one in cut(problem, usual, _PART_TILES, spec.sm_count):
        parts = _fitted(problem, replace(usual, splits=one.splits, part_tiles=one.part_tiles), spec)
        yield shared(problem, parts, spec, one.waves)


def checks(
    problem: AttentionDecodeProblem, schedule: LatentSchedule
) -> list[tuple[AttentionDecodeProblem, LatentSchedule]]:
    """See `small_parts`."""
    rows = 2 * schedule.rows if schedule.multicast else 4
    small = small_parts(problem, rows, schedule.tile_keys, WIDEST_ACCESS // problem.dtype.bytes)
    found = on_few_blocks(small, schedule)
    return [(one, replace(few, multicast=few.multicast and _may_share(one))) for one, few in found]
