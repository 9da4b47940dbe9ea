"""attention by wgmma: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention.wgmma.emit import ALIGNED
from autotune.codegen.attention.attention.wgmma.schedule import ARCHITECTURE, KEYS, WgmmaSchedule
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.tensor_map import MOST_STRIDE_BYTES
from autotune.search_spaces.attention.attention.small import small_problems
from autotune.search_spaces.contract.space import Draw, Parameter, Space, Value, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import grid_violations

_PERSISTENT = "persistent"
_L2_SHARE = 0.5  # of L2 that keys and values of heads may take whose tiles are taken together
# Queries of a block and keys of a tile that are tried first, by the larger dimension of a head: consumers, keys.
_TILES = ((64, ((3, 128), (2, 160), (2, 128), (3, 96))), (128, ((2, 176), (2, 128), (3, 80), (2, 160))))
_WIDE = ((2, 128), (2, 112), (2, 96), (2, 80), (2, 64), (1, 96))


def constraints(problem: AttentionProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from unmapped(problem)
    needed, given = schedule.needed_registers(problem), schedule.consumer_registers
    if needed > given:
        yield f"about {needed} registers over the {given} of a consumer's threads"
    if schedule.pingpong and schedule.consumers == 1:
        yield "pingpong: expected several consumers, not 1"
    if schedule.grid_blocks > schedule.tiles(problem) > 0:
        yield f"grid_blocks {schedule.grid_blocks}: expected {schedule.tiles(problem)} tiles at most, or 0"
    yield from grid_violations(schedule.blocks(problem))


def unmapped(problem: AttentionProblem) -> Iterator[str]:
    """Why tensor copies do not take the operands as they are."""
    if not problem.keys:
        yield "keys 0: a tensor map has at least one"
    for operand in "qkv":
        stated = problem.layouts[operand]
        if stated.alignment < WIDEST_ACCESS:
            yield f"{operand} is aligned to {stated.alignment} bytes: tensor copies need {WIDEST_ACCESS}"
        for extent, step, field in zip(stated.shape, stated.strides, stated.fields, strict=False):
            if extent > 1 and (step % ALIGNED or step * stated.element_bytes >= MOST_STRIDE_BYTES):
                yield f"{field} {step}: tensor copies need a multiple of {ALIGNED} elements below 2^40 bytes"


def applies(problem: AttentionProblem, spec: DeviceSpec) -> bool:
    """Whether the device has wgmma, and tensor copies take the operands."""
    return ARCHITECTURE.startswith(spec.arch) and problem.rows > 0 and not any(unmapped(problem))


def space(problem: AttentionProblem, spec: DeviceSpec) -> Space[WgmmaSchedule]:
    """Keys and stages are upper bounds: a schedule gets as many as there is room for."""
    heads = tuple(n for n in field_specs(WgmmaSchedule)["heads_together"].values if n < 2 * problem.all_heads)
    parameters = (*field_parameters(WgmmaSchedule, heads_together=heads), Parameter("grid", ("tiles", _PERSISTENT)))

    def build(draw: Draw) -> WgmmaSchedule:
        fields = {name: value for name, value in draw.items() if name != "grid"}
        return fitted(problem, WgmmaSchedule.from_dict(fields), spec, persistent=draw["grid"] == _PERSISTENT)

    def fits(schedule: WgmmaSchedule, grid: Value) -> bool:
        return (schedule.grid_blocks > 0) == (grid == _PERSISTENT)

    return Space(parameters, build, fits={"grid": fits})


def fitted(problem: AttentionProblem, schedule: WgmmaSchedule, spec: DeviceSpec, *, persistent: bool) -> WgmmaSchedule:
    """The schedule with no more keys and stages than there is room for, and fewer consumers if these are too many."""
    consumers = schedule.consumers
    while True:
        for keys in (count for count in reversed(KEYS) if count <= schedule.tile_keys):
            for stages in range(schedule.stages, 0, -1):
                tried = replace(schedule, consumers=consumers, tile_keys=keys, stages=stages)
                room = tried.shared_bytes(problem) <= spec.shared_per_block
                if room and tried.needed_registers(problem) <= tried.consumer_registers:
                    blocks = min(spec.sm_count, tried.tiles(problem)) if persistent else 0
                    return replace(tried, pingpong=tried.pingpong and consumers > 1, grid_blocks=blocks)
        if consumers == 1:
            return schedule
        consumers -= 1


def candidates(problem: AttentionProblem, spec: DeviceSpec) -> Iterator[WgmmaSchedule]:
    """FlashAttention-3's tiles first (hopper/tile_size.h), then others."""
    widest = max(problem.head_dim, problem.value_elements)
    tiles = next((some for dim, some in _TILES if widest <= dim), _WIDE)
    together = _together(problem, spec)
    for consumers, keys in tiles:
        for turns in (True, False):
            usual = WgmmaSchedule(consumers, keys, 2, turns, heads_together=together)
            yield fitted(problem, usual, spec, persistent=False)
            yield fitted(problem, usual, spec, persistent=True)
    yield fitted(problem, WgmmaSchedule(1, 64, 2, heads_together=together), spec, persistent=False)


def _together(problem: AttentionProblem, spec: DeviceSpec) -> int:
    """Heads whose keys and values L2 holds, where tiles of a head differ in what they see."""
    if not problem.bounded_right or problem.bounded_left:
        return 1
    of_head = problem.keys * (problem.head_dim + problem.value_elements) * problem.dtype.bytes
    most = min(_L2_SHARE * spec.l2_bytes / max(1, of_head) * problem.group, problem.all_heads)
    counts: tuple[int, ...] = field_specs(WgmmaSchedule)["heads_together"].values
    return max(count for count in counts if count <= max(1, most))


def checks(problem: AttentionProblem, schedule: WgmmaSchedule) -> list[tuple[AttentionProblem, WgmmaSchedule]]:
    """See `small_problems`; of a grid that stays, two blocks."""
    found = small_problems(problem, schedule.block_rows, schedule.tile_keys, WIDEST_ACCESS)
    return [(one, replace(schedule, grid_blocks=min(schedule.grid_blocks, 2, schedule.tiles(one)))) for one in found]
