"""scan: which schedules to try first."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import Algorithm, ScanSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .space import ROUNDS, algorithms, fitted

# Threads of a block and vectors of each, for tiles; those of CUB for an H100 have 128 threads with 24 elements of 4
# bytes (tuning_scan.cuh).
_TILES = ((128, 6), (256, 4), (256, 6), (128, 8), (256, 8), (512, 4), (512, 2), (1024, 2))
# Threads, vectors of each, stages and blocks on each SM of pipelined blocks: of 19 tried on an H200, those that were
# the fastest at 2^20, 2^24 or 2^28 elements of 4 bytes.
_PIPELINES = (
    (512, 9, 3, 1),
    (512, 8, 3, 1),
    (256, 17, 3, 1),
    (256, 16, 3, 1),
    (128, 16, 2, 3),
    (256, 8, 3, 2),
    (512, 4, 3, 2),
    (256, 4, 3, 3),
)
# The same of blocks whose results leave in bulk: what fits shared memory, with flags beside the elements or without.
_IN_BULK = (
    (512, 9, 3, 1),
    (512, 7, 4, 1),
    (256, 15, 3, 1),
    (512, 7, 3, 1),
    (256, 9, 3, 2),
    (256, 7, 3, 2),
    (128, 9, 3, 3),
)
_ROUNDS = (4, 2, 8, 9, 1)  # rounds of a row's threads
_LEAST_LANES, _MOST_LANES = 8, 1024
_SMALL_BLOCK = 128
_FEW_TILES = 4  # tiles of a block that one block scans in turn before several share a row


def default(problem: ScanProblem, spec: DeviceSpec) -> ScanSchedule:
    """Look-back over long rows, and otherwise a few vectors of a row for each of its threads."""
    return _shared(problem, 256, 4) if _is_shared(problem, spec) else _rows(problem, 4)


def candidates(problem: ScanProblem, spec: DeviceSpec) -> list[ScanSchedule]:
    """Of the default's kind first, then of the other one."""
    shared: list[ScanSchedule] = []
    kinds = algorithms(problem, spec)
    if Algorithm.PIPELINED in kinds:
        shared = [_staying(problem, spec, Algorithm.PIPELINED, *pipeline) for pipeline in _PIPELINES]
    if Algorithm.BULK in kinds:
        shared += [_staying(problem, spec, Algorithm.BULK, *pipeline) for pipeline in _IN_BULK]
    if Algorithm.LOOK_BACK in kinds:
        tiles = [_shared(problem, threads, rounds) for threads, rounds in _TILES]
        tiles += [replace(tiles[0], delay=350), replace(tiles[1], delay=350), replace(tiles[0], streaming=True)]
        shared += [*tiles, replace(tiles[0], specialize=Specialize.SHAPE)]
    rows = []
    if Algorithm.ROWS in kinds:
        rows = [_rows(problem, rounds) for rounds in _ROUNDS]
        rows += [replace(rows[0], streaming=True), replace(rows[0], specialize=Specialize.SHAPE)]
    return [*shared, *rows] if _is_shared(problem, spec) else [*rows, *shared]


def _is_shared(problem: ScanProblem, spec: DeviceSpec) -> bool:
    """Whether rows are too long for a block, or too few for a device."""
    kinds = algorithms(problem, spec)
    if Algorithm.ROWS not in kinds or len(kinds) == 1:
        return Algorithm.ROWS not in kinds
    few = problem.rows < spec.sm_count
    return few and problem.columns > _FEW_TILES * _MOST_LANES * problem.widest


def _shared(problem: ScanProblem, threads: int, rounds: int) -> ScanSchedule:
    return fitted(problem, ScanSchedule(Algorithm.LOOK_BACK, threads, threads, problem.widest, rounds))


def _staying(
    problem: ScanProblem, spec: DeviceSpec, algorithm: Algorithm, threads: int, rounds: int, stages: int, blocks: int
) -> ScanSchedule:
    grid = blocks * spec.sm_count
    schedule = ScanSchedule(algorithm, threads, threads, problem.widest, rounds, stages=stages, grid_blocks=grid)
    return fitted(problem, schedule)


def _rows(problem: ScanProblem, rounds: int) -> ScanSchedule:
    """As many threads as have so many vectors of a row, or fewer vectors if these suffice."""
    width = problem.widest_skewed
    vectors = ceil_div(problem.columns + width - problem.widest, width)
    lanes = 1 << (max(1, ceil_div(vectors, rounds)) - 1).bit_length()
    lanes = min(max(_LEAST_LANES, lanes), _MOST_LANES)
    threads = max(_SMALL_BLOCK, lanes)
    rounds = next((few for few in ROUNDS if vectors <= few * lanes <= rounds * lanes), rounds)
    return fitted(problem, ScanSchedule(Algorithm.ROWS, threads, lanes, width, rounds))
