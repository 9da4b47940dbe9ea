"""Decoding chunks by gathered keys: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.attention.attention.wgmma.schedule import WgmmaSchedule
from autotune.codegen.attention.attention_decode.gathered.emit import gathered_bytes
from autotune.codegen.attention.attention_decode.gathered.packed import packed
from autotune.codegen.attention.attention_decode.gathered.schedule import GatheredSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.problem import MOST_DIM
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.search_spaces.attention.attention.wgmma import KERNEL as WGMMA
from autotune.search_spaces.attention.small import small_problems
from autotune.search_spaces.contract.space import Draw, Space
from autotune.search_spaces.machine.device_spec import DeviceSpec

MOST_BYTES = 1 << 30  # of the workspace
_TILES_OF_TICKETS = 8  # of an SM, or more, as an H200 takes them
_LEAST_QUERIES = 17  # of fewer, keys are read once by the other kernels, in about the time that it takes to gather them


def constraints(problem: AttentionDecodeProblem, schedule: GatheredSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    objections = [*_objections(problem)]
    yield from objections or WGMMA.constraints(packed(problem), schedule, spec)


def _objections(problem: AttentionDecodeProblem) -> Iterator[str]:
    """What keeps requests from being packed sequences."""
    if problem.quantised:
        yield f"a cache of {problem.cache}: expected numbers"
    if max(problem.head_dim, problem.value_elements) > MOST_DIM:
        yield f"heads of {problem.head_dim} and {problem.value_elements} elements: expected {MOST_DIM} at most"
    if problem.batch_invariant:
        yield "batch_invariant: expected kernels that every number of requests has"
    if problem.batch > 1 and problem.lse:
        yield f"the logarithms of {problem.batch} requests: expected one request"
    for operand in "qo" if problem.batch > 1 else "":
        step, row = (getattr(problem, f"stride_{operand}_{axis}") for axis in "bs")
        if step != problem.queries * row:
            yield f"stride_{operand}_b {step}: expected {problem.queries} queries of {row} elements"
    if (needed := sum(gathered_bytes(problem).values())) > MOST_BYTES:
        yield f"workspace of {needed} bytes: expected {MOST_BYTES} at most"


def applies(problem: AttentionDecodeProblem, spec: DeviceSpec) -> bool:
    """Whether queries are many, requests can be packed sequences, and the device has wgmma."""
    if problem.queries < _LEAST_QUERIES or not problem.keys or any(_objections(problem)):
        return False
    return WGMMA.applies(packed(problem), spec)


def space(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Space[GatheredSchedule]:
    """That of attention of packed sequences."""
    found = WGMMA.space(packed(problem), spec)

    def build(draw: Draw) -> GatheredSchedule:
        return _gathered(found.build(draw))

    return Space(found.parameters, build, fits=found.fits)


def candidates(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Iterator[GatheredSchedule]:
    """Those of attention of packed sequences; where tiles are few, without tickets, which are drawn a tile ahead."""
    sequences = packed(problem)
    for one in WGMMA.candidates(sequences, spec):
        if not one.tickets or one.tiles(sequences) > _TILES_OF_TICKETS * spec.sm_count:
            yield _gathered(one)


def _gathered(schedule: WgmmaSchedule) -> GatheredSchedule:
    return GatheredSchedule(**vars(schedule))


def checks(
    problem: AttentionDecodeProblem, schedule: GatheredSchedule
) -> list[tuple[AttentionDecodeProblem, GatheredSchedule]]:
    """See `small_problems`; of a grid that stays, two blocks."""
    small = small_problems(replace(problem, pages=0), schedule.block_rows, schedule.tile_keys, WIDEST_ACCESS)
    small = [replace(one, batch=1) if one.lse else one for one in small]
    tiles = (schedule.tiles(packed(one)) for one in small)
    return [
        (one, replace(schedule, grid_blocks=min(schedule.grid_blocks, 2, most)))
        for one, most in zip(small, tiles, strict=True)
    ]
