"""Decoding by the tensor cores of warps: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention_decode.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.search_spaces.attention.attention_decode.shares import changing_bits, space_of_shares
from autotune.search_spaces.attention.attention_decode.splits import (
    in_parts,
    on_few_blocks,
    outside_of_clusters,
    resident,
    small_parts,
    with_clusters,
)
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_SPECS = field_specs(MmaSyncSchedule)
_BLOCKS_OF_SM = 2  # by which an H100 was fastest
_LEAST_ROWS = 4  # of a group of heads: with fewer, most of what tensor cores do is for nothing
_PART_TILES = 4  # of a part at least
_ASYNC_COPIES = (8, 0)
_LEAST_STAGES = 2
_FEW_KEYS, _NARROW, _WIDE = 256, 64, 128  # of a window; elements of heads
_LANE_ELEMENTS = 8  # that a lane multiplies side by side
_LEAST_VECTOR: int = _SPECS["vector_width"].values[0]


def constraints(problem: AttentionDecodeProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from changing_bits(problem, schedule)
    yield from outside_of_clusters(problem, schedule)
    widest = _widest(problem, schedule.stages)
    if schedule.vector_width > widest:
        yield f"vector_width {schedule.vector_width} over the {widest} elements of aligned loads"
    if schedule.stages and not _copied(problem, schedule):
        yield f"vector_width {schedule.vector_width} of bytes with stages: copies have 4 bytes or more"


def _widest(problem: AttentionDecodeProblem, stages: int) -> int:
    """Elements of the widest loads; copies to stages may be wider than the eight that a lane multiplies."""
    return (
        problem.widest_of(*problem.cached_operands) if stages and problem.widest == _LANE_ELEMENTS else problem.widest
    )


def _copied(problem: AttentionDecodeProblem, schedule: MmaSyncSchedule) -> bool:
    """Whether asynchronous copies may be so narrow."""
    return schedule.vector_width * problem.dtype_of("k").bytes >= WORD_BYTES


def applies(problem: AttentionDecodeProblem, spec: DeviceSpec) -> bool:
    """Whether loads of two elements or more are aligned, and registers hold rows and keys of heads so wide."""
    widest = MmaSyncSchedule(threads=_SPECS["threads"].values[-1], share_keys=True)
    fits = widest.footprint(problem).registers <= spec.registers_per_thread
    return fits and problem.widest >= _LEAST_VECTOR


def suits(problem: AttentionDecodeProblem, spec: DeviceSpec) -> bool:
    """Whether it applies, and a group of heads has some rows: it is tried first then."""
    return problem.group * problem.queries >= _LEAST_ROWS and applies(problem, spec)


def space(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Space[MmaSyncSchedule]:
    """All fields are drawn; a warp takes fewer keys until registers hold them, and parts are no smaller than a tile; if
    none are few enough, warps share keys."""
    widths = tuple(width for width in _SPECS["vector_width"].values if width <= _widest(problem, _LEAST_STAGES))
    parameters = field_parameters(MmaSyncSchedule, vector_width=widths, cluster=with_clusters(spec))
    return space_of_shares(problem, spec, MmaSyncSchedule, parameters, _fitted)


def _fitted(problem: AttentionDecodeProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> MmaSyncSchedule:
    def fits(schedule: MmaSyncSchedule) -> bool:
        return schedule.footprint(problem).registers <= spec.registers_per_thread

    if not _copied(problem, schedule):
        schedule = replace(schedule, stages=0)
    schedule = replace(schedule, vector_width=min(schedule.vector_width, _widest(problem, schedule.stages)))
    if not fits(schedule):
        schedule = replace(schedule, warp_keys=_SPECS["warp_keys"].values[0])
    if not fits(schedule):
        schedule = replace(schedule, share_keys=True)
    while not fits(schedule):
        schedule = replace(schedule, threads=2 * schedule.threads)
    while schedule.footprint(problem).shared_bytes > spec.shared_per_block:
        if schedule.stages:
            schedule = replace(schedule, stages=schedule.stages - 1 if schedule.stages > _LEAST_STAGES else 0)
        else:
            schedule = replace(schedule, threads=schedule.threads // 2)
    return resident(problem, schedule, spec)


def candidates(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Iterator[MmaSyncSchedule]:
    """The widest loads, by asynchronous copies where there are such; as many parts as give every SM some blocks."""
    for shape in _shapes(problem, spec):
        usual = _fitted(problem, replace(shape, vector_width=_widest(problem, shape.stages)), spec)
        yield from in_parts(problem, usual, spec, _PART_TILES, _BLOCKS_OF_SM, _fitted)


def _shapes(problem: AttentionDecodeProblem, spec: DeviceSpec) -> list[MmaSyncSchedule]:
    """With threads, keys of a warp and stages. An H200 is fastest by few stages where a window has a few tiles alone,
    by many threads where no more heads have blocks of their own than there are SMs, and by many keys of wide heads
    and of codes."""
    if spec.compute_capability < _ASYNC_COPIES:
        return [_staged(128, 16, 0), _staged(64, 16, 0), _staged(128, 32, 0), _staged(128, 16, 2)]
    usual = [_staged(128, 16, 3), _staged(64, 16, 3), _staged(128, 32, 2), _staged(256, 16, 2), _staged(128, 16, 0)]
    widest = max(problem.head_dim, problem.value_elements)
    if 0 < problem.window_left <= _FEW_KEYS:
        return [_staged(128, 16, 2), _staged(64, 16, 2), *usual]
    if MmaSyncSchedule().row_blocks(problem) <= spec.sm_count:
        return [_staged(256, 32 if widest <= _NARROW else 16, 2), *usual]
    if problem.quantised:
        return [_staged(128, 32, 2), _staged(64, 32, 3), *usual]
    return [replace(_staged(128, 32, 2), share_keys=True), *usual] if widest > _WIDE else usual


def _staged(threads: int, warp_keys: int, stages: int) -> MmaSyncSchedule:
    return MmaSyncSchedule(threads, warp_keys, stages=stages)


def checks(
    problem: AttentionDecodeProblem, schedule: MmaSyncSchedule
) -> list[tuple[AttentionDecodeProblem, MmaSyncSchedule]]:
    """See `small_parts`."""
    small = small_parts(problem, 4, schedule.tile_keys, min(schedule.vector_width, _LANE_ELEMENTS))
    return on_few_blocks(small, schedule)
