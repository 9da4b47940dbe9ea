"""attention by wgmma: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention.wgmma.schedule import (
    ARCHITECTURE,
    CONSUMER_ROWS,
    KEYS,
    PRODUCT_K,
    WgmmaSchedule,
)
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.search_spaces.attention.small import small_problems
from autotune.search_spaces.attention.tensor_maps import unmapped
from autotune.search_spaces.attention.tiles import heads_in_l2, seen_keys, too_many_splits, useful_splits, usual_splits
from autotune.search_spaces.contract.space import Draw, Parameter, Space, Value, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations

# A block for each tile; or blocks that stay, and take tiles in turn, or those that nobody has.
_TILES_OF_BLOCKS, _IN_TURN, _TICKETS = "tiles", "in_turn", "tickets"
_GRIDS = (_TILES_OF_BLOCKS, _IN_TURN, _TICKETS)
# Queries of a block and keys of a tile that are tried first, by the larger dimension of a head: consumers, keys.
_TILES = (
    (64, ((3, 128), (2, 160), (2, 128), (3, 96))),
    (80, ((3, 128), (3, 112), (2, 176), (2, 128))),
    (128, ((2, 176), (2, 128), (3, 80), (2, 160))),
)
# Of several blocks on an SM: consumers, keys and blocks, where queries see few keys.
_SEVERAL, _FEW_KEYS = ((1, 128, 2), (1, 96, 2), (1, 64, 3), (2, 48, 2)), 1024
_AT_MOST = ((1, 128, 2), (2, 240, 1), (3, 128, 1))  # likewise, of as few keys more as cover all that a query sees
_WIDE = ((2, 128), (2, 112), (2, 96), (2, 80), (2, 64), (1, 96))


def constraints(problem: AttentionProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from unmapped(problem, "q", "k", "v")
    yield from _too_many_registers(problem, schedule)
    if schedule.pingpong and schedule.consumers == 1:
        yield "pingpong: expected several consumers, not 1"
    if schedule.queries_apart and (schedule.consumers == 1 or not schedule.grid_blocks):
        yield "queries_apart: expected several consumers, and blocks that stay"
    if schedule.grid_blocks > schedule.tiles(problem) > 0:
        yield f"grid_blocks {schedule.grid_blocks}: expected {schedule.tiles(problem)} tiles at most, or 0"
    if schedule.tickets and not schedule.grid_blocks:
        yield "tickets: expected blocks that stay, not grid_blocks 0"
    if schedule.pack_group and not _may_pack(problem, schedule):
        expected = f"no mask, and heads that share keys, as many as divide {schedule.query_rows} rows"
        yield f"pack_group: expected {expected}; not {problem.group}"
    if schedule.splits > 1 and schedule.grid_blocks:
        yield f"splits {schedule.splits}: expected 1 with blocks that stay"
    yield from too_many_splits(problem, schedule.splits)


def _may_pack(problem: AttentionProblem, schedule: WgmmaSchedule) -> bool:
    return replace(schedule, pack_group=True).packed_heads(problem) > 1 and not problem.masked


def _too_many_registers(problem: AttentionProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    needed, taken = schedule.needed_registers(problem), schedule.consumer_registers
    product, given = schedule.product_registers(problem), schedule.given_registers
    if needed > taken:
        yield f"about {needed} registers over the {taken} of a consumer's threads"
    elif product > given:
        yield f"about {product} registers of a product over the {given} that threads begin with"


def applies(problem: AttentionProblem, spec: DeviceSpec) -> bool:
    """Whether the device has wgmma, and tensor copies take the operands."""
    return ARCHITECTURE.startswith(spec.arch) and problem.rows > 0 and not any(unmapped(problem, "q", "k", "v"))


def space(problem: AttentionProblem, spec: DeviceSpec) -> Space[WgmmaSchedule]:
    """Keys and stages are upper bounds: a schedule gets as many as there is room for."""
    heads = tuple(n for n in field_specs(WgmmaSchedule)["heads_together"].values if n < 2 * problem.all_heads)
    splits = useful_splits(problem, CONSUMER_ROWS, spec)
    fields = field_parameters(WgmmaSchedule, heads_together=heads, splits=splits)
    parameters = (*fields, Parameter("grid", _GRIDS))

    def build(draw: Draw) -> WgmmaSchedule:
        fields = {name: value for name, value in draw.items() if name != "grid"}
        return fitted(problem, WgmmaSchedule.from_dict(fields), spec, str(draw["grid"]))

    def fits(schedule: WgmmaSchedule, grid: Value) -> bool:
        return grid == (_TICKETS if schedule.tickets else _IN_TURN if schedule.grid_blocks else _TILES_OF_BLOCKS)

    return Space(parameters, build, fits={"grid": fits})


def fitted(problem: AttentionProblem, schedule: WgmmaSchedule, spec: DeviceSpec, grid: str) -> WgmmaSchedule:
    """The schedule with no more keys and stages than there is room for.

    With fewer consumers, or fewer blocks on an SM, if these are too many.
    """
    for blocks in range(schedule.min_blocks_per_sm, 0, -1):
        for consumers in range(schedule.consumers, 0, -1):
            for keys in (count for count in reversed(KEYS) if count <= schedule.tile_keys):
                tried = replace(schedule, consumers=consumers, tile_keys=keys, min_blocks_per_sm=blocks)
                tried = replace(tried, pack_group=tried.pack_group and _may_pack(problem, tried))
                if any(_too_many_registers(problem, tried)):
                    continue
                for stages in range(schedule.stages, 0, -1):
                    tried = replace(tried, stages=stages)
                    if not any(footprint_violations(spec, tried.footprint(problem))):
                        return _on_grid(problem, tried, spec, grid)
    return schedule


def _on_grid(problem: AttentionProblem, schedule: WgmmaSchedule, spec: DeviceSpec, grid: str) -> WgmmaSchedule:
    tiles, resident = schedule.tiles(problem), spec.sm_count * schedule.min_blocks_per_sm
    if tiles <= resident:  # a block that stays has one tile
        grid = _TILES_OF_BLOCKS
    return replace(
        schedule,
        pingpong=schedule.pingpong and schedule.consumers > 1,
        queries_apart=schedule.queries_apart and schedule.consumers > 1 and grid != _TILES_OF_BLOCKS,
        grid_blocks=0 if grid == _TILES_OF_BLOCKS else resident,
        tickets=grid == _TICKETS,
        splits=schedule.splits if grid == _TILES_OF_BLOCKS else 1,
    )


def candidates(problem: AttentionProblem, spec: DeviceSpec) -> Iterator[WgmmaSchedule]:
    """FlashAttention-3's tiles first (hopper/tile_size.h), then others; of few tiles, those that share keys.

    Queries of a group's heads as rows of a tile are first where a window lets a tile of fewer queries see fewer keys.
    """
    for packs in (problem.bounded_left, not problem.bounded_left):
        if not packs or any(_may_pack(problem, WgmmaSchedule(consumers)) for consumers, _ in _WIDE):
            yield from _candidates(problem, spec, packs)


def _candidates(problem: AttentionProblem, spec: DeviceSpec, packs: bool) -> Iterator[WgmmaSchedule]:
    widest = max(problem.head_dim, problem.value_elements)
    wide = widest > _TILES[-1][0]
    tiles = next((some for dim, some in _TILES if widest <= dim), _WIDE)
    packed = problem.group if packs else 1
    together = max(1, heads_in_l2(problem, spec) // packed)
    alike = WgmmaSchedule(queries_apart=problem.segmented, heads_together=together, pack_group=packs)
    uneven = problem.bounded_right or problem.segmented
    grids: tuple[str, ...] = (_TICKETS, _TILES_OF_BLOCKS) if uneven else (_IN_TURN, _TICKETS)
    if problem.segmented and not problem.bounded_right:  # up to 13 % faster than tickets, which must come first
        grids = (_IN_TURN, *grids)
    for consumers, keys in (*((1, keys) for _, keys in tiles[:2]), *tiles):
        rows = consumers * CONSUMER_ROWS
        splits = usual_splits(problem, rows, spec, packed) if rows % packed == 0 else 1
        for shared in (splits, splits // 2):
            if shared > 1:
                usual = WgmmaSchedule(consumers, keys, 2, consumers > 1, wide, splits=shared, pack_group=packs)
                yield fitted(problem, usual, spec, _TILES_OF_BLOCKS)
    for consumers, keys in tiles:
        for turns in (True, False):
            for late in (wide, not wide):
                wanted = replace(alike, consumers=consumers, tile_keys=keys, pingpong=turns, rescale_late=late)
                yield from (fitted(problem, wanted, spec, grid) for grid in grids)
    several = list(_SEVERAL) if seen_keys(problem, 1, 1) <= _FEW_KEYS else [_SEVERAL[-1]]
    if len(several) > 1 and not uneven:
        several += [(consumers, _covering(problem, most), blocks) for consumers, most, blocks in _AT_MOST]
    for consumers, keys, blocks in several:
        wanted = replace(alike, consumers=consumers, tile_keys=keys, pingpong=True, min_blocks_per_sm=blocks)
        yield from (fitted(problem, wanted, spec, grid) for grid in grids)


def _covering(problem: AttentionProblem, most: int) -> int:
    """Keys of as few tiles as cover all keys, if a tile has so many at most."""
    return max(KEYS[0], round_up(ceil_div(problem.keys, max(1, ceil_div(problem.keys, most))), PRODUCT_K))


def checks(problem: AttentionProblem, schedule: WgmmaSchedule) -> list[tuple[AttentionProblem, WgmmaSchedule]]:
    """See `small_problems`; of a grid that stays, two blocks."""
    found = small_problems(problem, schedule.block_rows, schedule.tile_keys, WIDEST_ACCESS)
    alike = ((one, replace(schedule, pack_group=schedule.pack_group and one.group > 1)) for one in found)
    return [(one, replace(had, grid_blocks=min(had.grid_blocks, 2, had.tiles(one)))) for one, had in alike]
