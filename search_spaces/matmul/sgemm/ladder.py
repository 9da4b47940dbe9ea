"""What the blocks of the ladder's rungs do, for where no GPU measures them.

Counted as for tuned kernels (`workload`); on an H200 at 4096³, with one constant that was fitted to that ladder, the
modelled times are 0.65 to 1.33 of those measured (benchmarks/results/h200/ladder-4096.json).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autotune.codegen.matmul.sgemm.presets import TILED
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.tiled import TiledSchedule
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import BANKS, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.work import Unit
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

_BYTES = 4
_TILE = 32  # rows and columns of a naive block, and elements of a cache line
_LINES = 2  # cache lines that L1 looks up in a clock
_COPY = 11  # instructions of a copy, with its address and bounds, as in `workload`


def rungs(problem: SgemmProblem, spec: DeviceSpec) -> Mapping[str, tuple[Workload, ...]]:
    """The launches of each preset."""
    naive = {name: _naive(problem, spec, coalesced=name == "coalesced") for name in ("naive", "coalesced")}
    tiled = {name: _tiled(problem, replace(one, vector=_vector(problem, one)), spec) for name, one in TILED.items()}
    return {name: (work,) for name, work in (naive | tiled).items()}


def _vector(problem: SgemmProblem, schedule: TiledSchedule) -> int:
    return min(schedule.vector, *(problem.vector_width(operand) for operand in "abc"))


def _naive(problem: SgemmProblem, spec: DeviceSpec, *, coalesced: bool) -> Workload:
    """A step is a cache line along k, which is in L1 from its first element on: two loads for each FFMA."""
    products = _TILE * _TILE * _TILE // WARP
    lines = 1 if coalesced else WARP / _LINES  # of A: a broadcast, or a row of the matrix for each lane
    return Workload(
        blocks=_blocks(problem, _TILE, _TILE),
        footprint=Footprint(_TILE * _TILE),
        memory_bytes=problem.work.bytes,
        steps=ceil_div(problem.k, _TILE),
        in_flight=1,
        instructions=products,
        load_instructions=2 * products,
        unit_clocks=products * WARP / spec.rate(Unit.FP32),
        shared_clocks=products * (lines + 1),
        bytes_loaded=_BYTES * 2 * _TILE * _TILE,
        bytes_stored=_BYTES * _TILE * _TILE,
    )


def _tiled(problem: SgemmProblem, schedule: TiledSchedule, spec: DeviceSpec) -> Workload:
    """Fragments come from shared memory, one by one or in vectors; the lanes of a warp lie side by side along n."""
    footprint = schedule.footprint(problem)
    warps = footprint.threads // WARP
    products = schedule.block_m * schedule.block_n * schedule.block_k / WARP
    strip_m, strip_n = (4, 4) if schedule.warp_tiles else (schedule.thread_m, schedule.thread_n)
    vector_m, vector_n = min(strip_m, schedule.vector), min(strip_n, schedule.vector)
    lanes_n = 8 if schedule.warp_tiles else min(WARP, schedule.block_n // schedule.thread_n)
    loads_a = warps * schedule.block_k * schedule.thread_m / vector_m
    loads_b = warps * schedule.block_k * schedule.thread_n / vector_n
    words_a, words_b = WARP // lanes_n * vector_m, lanes_n * strip_n  # that a load spans; strips may skip banks
    elements = (schedule.block_m + schedule.block_n) * schedule.block_k
    return Workload(
        blocks=_blocks(problem, schedule.block_m, schedule.block_n),
        footprint=footprint,
        memory_bytes=problem.work.bytes,
        steps=ceil_div(problem.k, schedule.block_k),
        ahead=schedule.stages - 1,
        in_flight=schedule.stages - 1,
        instructions=products + loads_a + loads_b,
        load_instructions=_COPY * elements / schedule.vector / WARP,
        unit_clocks=products * WARP / spec.rate(Unit.FP32),
        shared_clocks=loads_a * max(1, words_a / BANKS) + loads_b * max(1, words_b / BANKS) + elements / BANKS,
        lines=schedule.block_m + schedule.block_n * schedule.block_k / _TILE,
        bytes_loaded=_BYTES * elements,
        bytes_stored=_BYTES * schedule.block_m * schedule.block_n,
    )


def _blocks(problem: SgemmProblem, rows: int, columns: int) -> int:
    return ceil_div(problem.m, rows) * ceil_div(problem.n, columns) * problem.batch
