"""What the blocks of a transpose schedule do, counted before anything is compiled.

Transposes differ in how they use memory, so that is what is counted: sectors and cache lines of the tile's rows, bank
conflicts, rows in flight, and what crosses device memory in vain.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.model.hardware import BANKS, LINE_BYTES, SECTOR_BYTES, WARP, WORD_BYTES
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import most_registers
from autotune.search_spaces.machine.workload import Workload

_EDGE_UNROLL = 8  # unrolled accesses in transpose.cuh
_SHIFT_REGISTERS = 8  # of a thread whose stores are aligned, beside what it needs anyway


@dataclass(frozen=True)
class Costs(Coefficients, section="transpose"):
    """What accesses of a transpose take, and what they move besides.

    Attributes:
        picks: instructions that move an element narrower than a register to another one, for each word of its
            micro-tile. Without them, the schedules that the model takes for 3840×2160 and 7680×4320 bytes take an H200
            1.4 and 1.6 times as long as the fastest of 94; with them, 1.06 and 1.04 times.
        access: instructions of an access to memory with its address.
        edge_access: instructions of an access that may lie outside of the matrix.
        edge_wait: loads, one after the other, that the kernel waits for at its end, for each element of a thread of a
            tile at an edge: few such tiles are moved element by element, when all others are done.
        edge_wait_generic: the same if compilers do not know the leading dimensions. By the times of an H200, 4095×4097,
            8191×8193 and 16383×32767 words take 5, 6 and 15 µs longer so.
        squeezed: instructions for a register that loads in flight need, but launch bounds forbid.
        squeezed_stores: the same for one that stores would take.
        row_loaded: bytes of device memory that each row of a tile of A costs more: pages of DRAM are left before they
            are moved as a whole.
        row_stored: the same of B.
        partial_sector_bytes: bytes that take as long as a sector that is stored in part. It is merged in L2: the
            counters of an H200 show as many bytes of device memory as without it.
        shifted_conflicts: accesses that meet in a bank where each row is shifted by another number of elements.
        scattered: share of the bytes that tiles cost more if they are taken neither row by row nor column by column.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp.
    """

    picks: float
    access: float
    edge_access: float
    edge_wait: float
    edge_wait_generic: float
    squeezed: float
    squeezed_stores: float
    row_loaded: float
    row_stored: float
    partial_sector_bytes: float
    shifted_conflicts: float
    scattered: float
    dependent: float


def workload(problem: TransposeProblem, schedule: TransposeSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its tile, all rows of a thread in flight, passes it through shared memory and stores it."""
    costs = Costs.of(spec)
    size, warps = problem.element_bytes, schedule.threads // WARP
    overlap, overlap_n = schedule.overlaps(size)
    load_bytes, store_bytes = schedule.vector_load * size, schedule.vector_store * size  # bytes of a thread's access
    row_loaded, row_stored = _rows(schedule, size)
    loads = schedule.rows_per_thread
    stores = schedule.stores_per_thread
    # Micro-tiles are one row high where stores are aligned.
    shared_stores = loads * schedule.vector_load if overlap + overlap_n else stores
    shared_bytes = size if overlap + overlap_n else store_bytes
    scattered = 1 < schedule.raster_group < schedule.tiles(problem)[0]
    moved = _memory_loaded(row_loaded, costs) + _memory_stored(row_stored, costs) + 2 * costs.scattered * scattered
    moved += _partial_sectors(problem, schedule) * costs.partial_sector_bytes / row_stored
    edge, edge_accesses = _edge_share(problem, schedule), schedule.tile_m * schedule.tile_n // schedule.threads
    # A thread loads so many elements of an edge tile at a time.
    steps = 1 + edge * max(0, edge_accesses / _EDGE_UNROLL - 1)
    edge_wait = costs.edge_wait_generic if schedule.specialize is Specialize.NONE else costs.edge_wait
    footprint = schedule.footprint(problem)
    needed = footprint.registers + (_SHIFT_REGISTERS if overlap else 0)
    most = most_registers(spec, schedule.threads, schedule.min_blocks_per_sm)
    squeezed = costs.squeezed * max(0, needed - most)
    squeezed += costs.squeezed_stores * max(0.0, schedule.storing_registers(size) - most)
    # Accesses to shared memory, from it, and to B.
    of_thread = costs.access * (shared_stores + 2 * stores) + squeezed + _picks(schedule, size, costs)
    edge_instructions = edge * warps * costs.edge_access * edge_accesses
    shared_clocks = shared_stores * _wavefronts(shared_bytes) * _conflicts(schedule, size, costs)
    grid = Workload(
        blocks=schedule.blocks(problem),
        footprint=footprint,
        memory_bytes=problem.work.bytes / 2 * moved,
        steps=steps,
        instructions=((1 - edge) * warps * of_thread + 3 * edge_instructions) / steps,
        load_instructions=((1 - edge) * warps * costs.access * loads + edge_instructions) / steps,
        dependent=costs.dependent,
        waits=edge_wait * edge_accesses if edge else 0.0,
        shared_clocks=warps * (stores * _wavefronts(store_bytes) + shared_clocks) / steps,
        lines=warps * (loads * _lines(row_loaded, load_bytes) + stores * _lines(row_stored, store_bytes)) / steps,
        bytes_loaded=schedule.tile_m * schedule.tile_n * size * max(1, SECTOR_BYTES / row_loaded) / steps,
        bytes_stored=(schedule.tile_m - overlap)
        * (schedule.tile_n - overlap_n)
        * size
        * max(1, SECTOR_BYTES / row_stored),
    )
    return (grid,)


def _rows(schedule: TransposeSchedule, size: int) -> tuple[int, int]:
    """Contiguous bytes of a tile in A and in B: a row of it, or all of a tile that is as narrow as the matrix."""
    stored_m, n = schedule.tile_m - schedule.overlaps(size)[0], schedule.tile_n
    whole_a, whole_b = (side & (side - 1) != 0 for side in (n, schedule.tile_m))
    return n * size * (schedule.tile_m if whole_a else 1), stored_m * size * (n if whole_b else 1)


def _partial_sectors(problem: TransposeProblem, schedule: TransposeSchedule) -> float:
    """Sectors that a tile stores in part, of the two where a row of it begins and ends in B."""
    size = problem.element_bytes
    if schedule.align_stores or problem.ldb * size % SECTOR_BYTES == 0:
        return 0.0
    return 2 * (1 - size / SECTOR_BYTES)


def _edge_share(problem: TransposeProblem, schedule: TransposeSchedule) -> float:
    """Share of the tiles that are moved element by element."""
    if problem.empty or not schedule.ragged(problem):
        return 0.0
    overlap, overlap_n = schedule.overlaps(problem.element_bytes)
    whole = (problem.m - overlap) // (schedule.tile_m - overlap) if overlap else problem.m // schedule.tile_m
    whole = max(0, whole - 1 if overlap else whole) * (problem.n // (schedule.tile_n - overlap_n))
    tiles_m, tiles_n = schedule.tiles(problem)
    return 1 - whole / (tiles_m * tiles_n)


def _picks(schedule: TransposeSchedule, size: int, costs: Costs) -> float:
    """Instructions of a thread that transpose micro-tiles in registers, of elements narrower than these."""
    if schedule.align_stores or size >= WORD_BYTES:
        return 0.0
    words = schedule.vector_load * schedule.vector_store * size / WORD_BYTES  # words of a micro-tile
    return costs.picks * words * schedule.rows_per_thread * schedule.vector_load * (1 - size / WORD_BYTES)


def _memory_loaded(row: int, costs: Costs) -> float:
    """Bytes that device memory moves to load a byte, in rows of a tile of so many bytes."""
    return 1 + costs.row_loaded / row


def _memory_stored(row: int, costs: Costs) -> float:
    """Bytes that device memory moves to store a byte: a sector that is stored in parts is read and written for each."""
    return (1 + costs.row_stored / row) * (2 * SECTOR_BYTES / row if row < SECTOR_BYTES else 1)


def _lines(row: int, access: int) -> float:
    """Cache lines that a warp touches with accesses of so many bytes, side by side in rows of a tile."""
    across = min(WARP * access, row)  # bytes of a row that a warp accesses
    return WARP * access / across * max(1, across / LINE_BYTES)


def _wavefronts(access: int) -> int:
    """Clocks that a warp's access of so many bytes a thread takes in shared memory, without conflicts."""
    return max(1, access * WARP // (BANKS * WORD_BYTES))


def _conflicts(schedule: TransposeSchedule, size: int, costs: Costs) -> float:
    """Row groups that meet in a bank while a warp stores them to shared memory; see `tile_index`."""
    if schedule.align_stores:
        return costs.shifted_conflicts
    access = max(WORD_BYTES, schedule.vector_store * size)
    slots = BANKS * WORD_BYTES // access  # accesses that shared memory serves at once
    groups = min(schedule.lanes_n, slots)
    distance = (schedule.vector_load * schedule.tile_m + schedule.pad) * size // access
    apart = slots // gcd(distance, slots)  # groups until one lies above the first
    if schedule.swizzle:
        apart = max(apart, schedule.tile_m // schedule.group_shift(size))
    return groups / min(groups, apart)
