"""What the blocks of a transpose schedule do, counted before anything is compiled.

Transposes differ in how they use memory, so that is what is counted: sectors and cache lines of the tile's rows, bank
conflicts, rows in flight, and what crosses device memory in vain. The constants were fitted together with some of the
time model's; see there.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from ....codegen.footprint import Footprint
from ....codegen.integers import ceil_div
from ....codegen.layout.transpose.emit import blocks
from ....codegen.layout.transpose.problem import TransposeProblem
from ....codegen.layout.transpose.schedule import BANK_BYTES, BANKS, WARP, TransposeSchedule
from ...device_spec import DeviceSpec
from ...workload import Workload

_SECTOR, _LINE, _WIDEST = 32, 128, 16  # bytes: what device memory moves at least, a cache line, the widest access
# ptxas takes these for addresses and for each word of a thread's rows. Of the recorded transposes 65 % get the
# occupancy that they have, with a mean log error of 0.11.
_ADDRESS_REGISTERS, _REGISTERS_PER_WORD = 20, 1.75
_ACCESS = 5  # instructions of an access to memory, with its address
_EDGE_ACCESS = 8  # of one that may lie outside of the matrix
_EDGE_UNROLL = 8  # of transpose.cuh
_RESIDENT = 4  # blocks of an SM, about
# Bytes of device memory that each row of a tile costs more: pages of DRAM are left before they are moved as a whole.
_ROW_LOADED, _ROW_STORED = 11.0, 5.3
# Share of the bytes that tiles cost more if they are taken neither row by row nor column by column.
_SCATTERED = 0.017
# Stores of 16 bytes without the streaming hint slow an H200 down, as if so much more crossed device memory: of what a
# row's part of a cache line lacks, and, of all that is stored, for each warp of a block above four. Why is not known.
_LINE_SHARE, _WARP_SHARE, _FREE_WARPS = 1.75, 0.175, 4


def workload(problem: TransposeProblem, schedule: TransposeSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """A block loads its tile, all rows of a thread in flight, passes it through shared memory and stores it."""
    size, warps = problem.element_bytes, schedule.threads // WARP
    load_bytes, store_bytes = schedule.vector_load * size, schedule.vector_store * size  # of a thread's access
    row_loaded, row_stored = schedule.tile_n * size, schedule.tile_m * size  # bytes of a row of the tile, in A and in B
    loads = schedule.rows_per_thread
    stores = ceil_div(schedule.tile_m * schedule.tile_n, schedule.threads * schedule.vector_store)
    wavefronts = max(1, store_bytes * WARP // (BANKS * BANK_BYTES))  # of a warp's access to shared memory
    scattered = 1 < schedule.raster_group < ceil_div(problem.m, schedule.tile_m)
    moved = _memory_loaded(row_loaded) + _memory_stored(row_stored, schedule, size) + 2 * _SCATTERED * scattered
    edge, edge_accesses = _edge_share(problem, schedule), schedule.tile_m * schedule.tile_n // schedule.threads
    # A thread loads so many elements of an edge tile at a time. The kernel ends when the last of these blocks does.
    last_wave = spec.sm_count * _RESIDENT / max(1, blocks(problem, schedule))
    delayed = min(1.0, max(edge, last_wave)) if edge else 0.0
    steps = 1 + delayed * max(0, edge_accesses / _EDGE_UNROLL - 1)
    edge_instructions = edge * warps * _EDGE_ACCESS * edge_accesses
    grid = Workload(
        blocks=blocks(problem, schedule),
        footprint=_footprint(problem, schedule),
        memory_bytes=problem.work.bytes / 2 * moved,
        steps=steps,
        # to shared memory, from it, and to B
        instructions=((1 - edge) * warps * _ACCESS * 3 * stores + 3 * edge_instructions) / steps,
        load_instructions=((1 - edge) * warps * _ACCESS * loads + edge_instructions) / steps,
        shared_clocks=warps * wavefronts * stores * (1 + _conflicts(schedule, size)) / steps,
        lines=warps * (loads * _lines(row_loaded, load_bytes) + stores * _lines(row_stored, store_bytes)) / steps,
        bytes_loaded=schedule.tile_m * max(row_loaded, _SECTOR) / steps,
        bytes_stored=schedule.tile_n * max(row_stored, _SECTOR),
    )
    return (grid,)


def _edge_share(problem: TransposeProblem, schedule: TransposeSchedule) -> float:
    """Share of the tiles that stick out of the matrix, which are moved element by element."""
    if problem.empty:
        return 0.0
    whole = (problem.m // schedule.tile_m) * (problem.n // schedule.tile_n)
    tiles = ceil_div(problem.m, schedule.tile_m) * ceil_div(problem.n, schedule.tile_n)
    return 1 - whole / tiles


def _footprint(problem: TransposeProblem, schedule: TransposeSchedule) -> Footprint:
    words = schedule.rows_per_thread * max(1, schedule.vector_load * problem.element_bytes // 4)
    return replace(schedule.footprint(problem), registers=int(_ADDRESS_REGISTERS + _REGISTERS_PER_WORD * words))


def _memory_loaded(row: int) -> float:
    """Bytes that device memory moves to load a byte, in rows of a tile of so many bytes."""
    return 1 + _ROW_LOADED / row


def _memory_stored(row: int, schedule: TransposeSchedule, size: int) -> float:
    """Bytes that device memory moves to store a byte: a sector that is stored in parts is read and written for each."""
    moved = (1 + _ROW_STORED / row) * (2 * _SECTOR / row if row < _SECTOR else 1)
    if schedule.streaming or schedule.vector_store * size < _WIDEST:
        return moved
    lacking = max(0, _LINE - row) / row
    crowding = max(0, schedule.threads // WARP - _FREE_WARPS)
    return moved + _LINE_SHARE * lacking + _WARP_SHARE * crowding


def _lines(row: int, access: int) -> float:
    """Cache lines that a warp touches with accesses of so many bytes, side by side in rows of a tile."""
    across = min(WARP * access, row)  # bytes of a row that a warp accesses
    return WARP * access / across * max(1, across / _LINE)


def _conflicts(schedule: TransposeSchedule, size: int) -> float:
    """Row groups that meet in a bank while a warp stores them to shared memory; see `tile_index`."""
    access = max(BANK_BYTES, schedule.vector_store * size)
    slots = BANKS * BANK_BYTES // access  # accesses that shared memory serves at once
    groups = min(schedule.lanes_n, slots)
    distance = (schedule.vector_load * schedule.tile_m + schedule.pad) * size // access
    apart = slots // gcd(distance, slots)  # groups until one lies above the first
    if schedule.swizzle:
        apart = max(apart, schedule.tile_m // schedule.group_shift(size))
    return groups / min(groups, apart)
