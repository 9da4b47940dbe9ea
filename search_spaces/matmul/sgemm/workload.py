"""What the blocks of an sgemm schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule, strip_width
from autotune.codegen.matmul.sgemm.transpose_first import product, transposed_first
from autotune.codegen.model.hardware import SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.work import Unit
from autotune.search_spaces.layout.transpose.workload import workload as transpose_workload
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

from .legal import steps_along_k

_ELEMENT_BYTES, _SECTOR_ELEMENTS, _LINE_ELEMENTS = 4, 8, 32
_FAN_IN = 16  # parts that split_k_reduction.cuh adds at once
_PARTS = 4  # of a warp, whose reads of four elements from shared memory are served in turn unless they are the same
_HIDING = 2  # warps of a scheduler that read partial sums as fast as one
# Of the FFMAs, the share that waits for registers where no, one or both tiles are K-major: three are new. Counted in
# the machine code of six tiles (NVRTC 13.0, sm_90), beyond those that wait where tiles are transposed.
_K_MAJOR_WAITS = (0.0, 0.07, 0.2)


@dataclass(frozen=True)
class _Supply:
    """What a step takes to load an operand to fragments: instructions of all warps of a block, and their elements.

    Reads from shared memory take `shared_clocks` of the SM.
    """

    shared_accesses: float
    shared_clocks: float
    copies: float
    direct_loads: float
    lines: float
    elements: float


@dataclass(frozen=True)
class Costs(Coefficients, section="sgemm"):
    """What the instructions of a product take.

    Attributes:
        copy: instructions of a copy with its address and bounds.
        direct_load: instructions of a load to registers with its address and bounds.
        store: relative cost of stores: a warp has parts of several rows.
        single: share of the FFMAs that wait for registers, where fragments of single elements are loaded ahead.
    """

    copy: float
    direct_load: float
    store: float
    single: float


def workload(problem: SgemmProblem, schedule: SgemmSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Those of operands that are transposed first, and of the product."""
    before = transposed_first(problem, schedule)
    transpositions = (work for one in before for work in transpose_workload(one.problem, one.schedule, spec))
    return (*transpositions, product_workload(*product(problem, schedule), spec))


def product_workload(problem: SgemmProblem, schedule: SgemmSchedule, spec: DeviceSpec) -> Workload:
    """The blocks of the grid, and what each does in a step along k."""
    costs = Costs.of(spec)
    a, b = (_supply(problem, schedule, operand) for operand in "ab")
    tiles, clusters = schedule.tiles(problem), schedule.grid_clusters
    shared = clusters > 0 and tiles % clusters > 0
    vectors = schedule.thread_m * schedule.thread_n / schedule.vector_c / schedule.warps_k / schedule.cluster_k
    tile_elements = schedule.block_m * schedule.block_n
    multiply_adds = tile_elements * schedule.block_k / WARP
    waits = multiply_adds * _K_MAJOR_WAITS[sum(schedule.k_major(problem, operand) for operand in "ab")]
    if strip_width(schedule.thread_n) == 1 and schedule.double_buffer_fragments:
        waits += costs.single * multiply_adds
    parts = strip_width(schedule.thread_n) / schedule.vector_c  # stores of a strip, which is what lies in one sector
    if schedule.staged_c:
        parts = 1 + _SECTOR_ELEMENTS / schedule.warp_n  # a row may begin within a sector
    turns = max(1.0, schedule.warps / SCHEDULERS)
    in_turn = max(1.0, tiles / clusters) if clusters else 1.0  # tiles of a block
    return Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        steps=_steps(problem, schedule),
        ahead=schedule.stages - 1,
        in_flight=schedule.stages - 1 if schedule.asynchronous else min(1, schedule.stages - 1),
        instructions=multiply_adds + waits + a.shared_accesses + b.shared_accesses,
        load_instructions=costs.copy * (a.copies + b.copies) + costs.direct_load * (a.direct_loads + b.direct_loads),
        shared_clocks=a.shared_clocks + b.shared_clocks,
        unit_clocks=multiply_adds * WARP / spec.rate(Unit.FP32),
        lines=a.lines + b.lines,
        bytes_loaded=_ELEMENT_BYTES * (a.elements + b.elements),
        bytes_stored=costs.store * _ELEMENT_BYTES * tile_elements * parts * in_turn,
        tiles=in_turn,
        sliced_words=schedule.thread_m * schedule.thread_n * turns if schedule.warps_k > 1 else 0,
        shared_vectors=vectors * _parts_read(tiles, clusters) * max(1.0, turns / _HIDING) if shared else 0,
    )


def _steps(problem: SgemmProblem, schedule: SgemmSchedule) -> int:
    """Steps of the block that has the most."""
    steps, clusters = steps_along_k(problem, schedule), schedule.grid_clusters
    if clusters:
        steps = ceil_div(schedule.tiles(problem) * steps, clusters)
    return max(1, ceil_div(steps, schedule.cluster_k))


def _parts_read(tiles: int, clusters: int) -> int:
    """Parts of a tile that the last of those who share it reads: of 16 neighbours, then of all such groups."""
    sharers = max(2, ceil_div(clusters, tiles))
    return sharers if sharers <= _FAN_IN else _FAN_IN + ceil_div(sharers, _FAN_IN)


def _supply(problem: SgemmProblem, schedule: SgemmSchedule, operand: str) -> _Supply:
    side = "m" if operand == "a" else "n"
    block, warp, thread = (getattr(schedule, f"{level}_{side}") for level in ("block", "warp", "thread"))
    vector: int = getattr(schedule, f"vector_{operand}")
    size: int = getattr(problem, side)
    inside = size / round_up(size, block) if size else 0.0  # what lies outside is not read
    elements, along_k = schedule.block_k * block * inside, problem.along_k(operand)
    thread_elements = schedule.warps * schedule.k_steps * thread  # a step's, of a lane of each warp
    mode: CopyMode = getattr(schedule, f"copy_{operand}")
    if mode is CopyMode.DIRECT:
        loads = thread_elements / vector
        rows = warp // thread if along_k else schedule.lanes_k
        return _Supply(0.0, 0.0, 0.0, loads, loads * inside * max(rows, vector), elements)
    copies = schedule.block_k * block / vector / WARP
    row = block if not along_k else 8 if vector == 1 else schedule.block_k  # elements that lanes copy side by side
    lines = copies * inside * max(vector, min(WARP, vector * _LINE_ELEMENTS / row))
    # A store to shared memory, after a load to registers, takes the place of a copy.
    stores = 0.0 if mode is CopyMode.ASYNC_COPY else copies * (vector if along_k else 1)
    width = 4 if schedule.k_major(problem, operand) else strip_width(thread)
    accesses = thread_elements / width
    parts = max(1.0, min(_PARTS, warp // thread * schedule.lanes_k) * width / _PARTS)
    return _Supply(accesses, accesses * parts, copies + stores, 0.0, lines, elements)
