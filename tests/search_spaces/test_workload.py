"""What a schedule makes of a problem, counted by hand."""

from dataclasses import replace

import pytest

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.occupancy import resident_blocks

H200 = named_device("h200")
SGEMM, TRANSPOSE = operator("sgemm"), operator("transpose")
# 64×64 words by a warp of 8×4 lanes and four warps, of which two share each half along k; k in steps of 16.
STORE = 2  # Costs.store: relative cost of stores
SCHEDULE = SgemmSchedule(
    block_m=64, block_n=64, block_k=16, warp_m=64, warp_n=32, thread_m=8, thread_n=8, warps_k=2, stages=3,
    copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, vector_a=1, vector_b=4, vector_c=4,
)  # fmt: skip


def counted(m, n, k, problem=None, **changes):
    wanted, schedule = SgemmProblem(m, n, k, **(problem or {})), replace(SCHEDULE, **changes)
    assert SGEMM.violations(wanted, schedule, H200) == []
    (work,) = SGEMM.workload(wanted, schedule, H200)
    return work


def resident(work):
    return resident_blocks(work.footprint, H200)


def test_a_block_for_each_tile_goes_through_all_of_k():
    work = counted(128, 192, 100)
    assert (work.blocks, work.footprint.threads, work.footprint.cluster, work.steps) == (6, 128, 1, 7)
    assert (work.ahead, work.in_flight) == (2, 2)
    assert work.bytes_loaded == 4 * 2 * 16 * 64
    assert work.memory_bytes == SgemmProblem(128, 192, 100).work.bytes
    assert work.bytes_stored == STORE * 4 * 64 * 64
    assert (work.sliced_words, work.shared_vectors) == (64, 0)
    assert counted(128, 192, 100, warps_k=1).sliced_words == 0


def copies(work):
    """Of a step in which no operand is loaded to fragments at once, with stores of what came through registers."""
    return pytest.approx(work.load_instructions / 11)


def test_a_step_multiplies_and_loads_fragments_and_copies():
    work = counted(64, 64, 64)
    multiply_adds = 64 * 64 * 16 / 32
    assert work.instructions == multiply_adds + 4 * 8 * (2 + 2)  # four warps, 8 steps of each, two vectors of A and B
    assert work.unit_clocks == multiply_adds / 4  # of 128 FMAs a clock
    assert copies(work) == 64 * 16 / 32 + 64 * 16 / 4 / 32
    assert work.lines == 32 * 4 + 8 * 4  # four rows of A word by word; of B two rows of two lines
    assert counted(64, 64, 64, {"transpose_a": True}).lines == 32 * 1 + 8 * 4  # a row of A has two such lines


def test_through_registers_it_also_stores_to_shared_memory_and_one_tile_is_in_flight():
    changes = {"copy_a": CopyMode.REGISTERS, "vector_a": 4}
    work, copied = counted(64, 64, 64, **changes), counted(64, 64, 64)
    assert copies(work) == 2 * 8 + 8 * 4  # transposing, each word by itself
    assert work.instructions == copied.instructions
    assert work.in_flight == 1
    single = counted(64, 64, 64, stages=1, double_buffer_fragments=False, **changes)
    assert (single.ahead, single.in_flight) == (0, 0)


def test_a_direct_operand_is_loaded_by_all_who_multiply_it():
    direct = {"copy_a": CopyMode.DIRECT, "pad_a": 0}
    work = counted(64, 64, 64, stages=2, **direct)
    # Of B 8 copies; of A the loads of four warps, 8 steps of each, word by word.
    assert work.load_instructions == pytest.approx(11 * 8 + 79 * 4 * 8 * 8)
    assert work.lines == 256 * 8 + 8 * 4  # eight rows of A
    assert counted(64, 64, 64, stages=2, vector_a=4, **direct).load_instructions == pytest.approx(11 * 8 + 79 * 64)


def test_what_lies_outside_is_copied_in_vain_but_not_read():
    inside, outside = counted(64, 64, 64), counted(64, 16, 64)
    assert outside.load_instructions == inside.load_instructions
    assert outside.instructions == inside.instructions
    assert outside.bytes_loaded == 4 * (16 * 64 + 16 * 16)
    assert outside.lines == 32 * 4 + 8 * 4 / 4


def test_parts_of_a_sector_are_stored_one_by_one():
    assert counted(64, 64, 64, vector_c=1).bytes_stored == 4 * counted(64, 64, 64).bytes_stored


def test_a_grid_of_its_own_divides_the_steps_and_shares_tiles():
    work = counted(128, 192, 1600, grid_blocks=12)
    assert (work.blocks, work.steps) == (12, 50)
    assert work.shared_vectors == 2 * 8 * 8 / 4 / 2  # of two parts of a thread's tile, its share with another warp
    assert work.bytes_stored == STORE * 4 * 64 * 64
    whole = counted(128, 192, 1600, grid_blocks=3)
    assert (whole.steps, whole.shared_vectors) == (200, 0)
    assert whole.bytes_stored == 2 * STORE * 4 * 64 * 64
    assert counted(64, 64, 6400, grid_blocks=33).shared_vectors == (16 + 3) * 8


def test_a_cluster_divides_the_steps():
    work = counted(128, 192, 1600, cluster_k=4)
    assert (work.blocks, work.footprint.cluster, work.steps) == (24, 4, 25)


def test_an_sm_holds_as_many_blocks_as_registers_and_shared_memory_allow():
    assert resident(counted(64, 64, 64)) == 3
    assert resident(counted(64, 64, 64, min_blocks_per_sm=4)) == 4
    assert resident(counted(64, 64, 64, stages=11)) == 2
    assert resident(counted(64, 64, 6400, grid_blocks=2)) == 2  # adding up pieces takes more registers


@pytest.mark.parametrize("sizes", [(0, 5, 5), (5, 5, 0)])
def test_where_there_is_nothing_to_compute_a_block_has_a_step_all_the_same(sizes):
    (work,) = SGEMM.workload(SgemmProblem(*sizes), replace(SCHEDULE, vector_b=1, vector_c=1), H200)
    assert work.steps == 1
    assert work.blocks == (0 if 0 in sizes[:2] else 1)


def transposed(m=1024, n=2048, size=4, **fields):
    (work,) = TRANSPOSE.workload(TransposeProblem(m, n, size), TransposeSchedule(**fields), H200)
    return work


def test_a_transpose_moves_its_tile_in_one_step():
    work = transposed(100, 64, 8)
    assert (work.blocks, work.footprint.threads, work.steps) == (8, 256, 1)
    assert work.bytes_loaded == work.bytes_stored == 32 * 32 * 8
    assert resident(work) == 8
    assert work.lines == 8 * 4 * (2 + 2)  # eight warps, each with four rows of 256 bytes of A, and then of B


def test_of_a_sector_a_part_is_loaded_or_stored_as_a_whole():
    narrow, flat = (
        transposed(tile_n=4, tile_m=64, rows_per_thread=2),
        transposed(tile_n=64, tile_m=4, rows_per_thread=2),
    )
    assert narrow.bytes_loaded == flat.bytes_stored == 2 * 64 * 4 * 4
    assert narrow.bytes_stored == flat.bytes_loaded == 64 * 4 * 4
    moved = TransposeProblem(1024, 2048).work.bytes / 2
    assert flat.memory_bytes > moved * (1 + 4)  # each of the two parts reads the sector and writes it
    assert narrow.memory_bytes < moved * 3


def test_rows_that_begin_within_sectors_move_more_bytes_unless_stores_are_aligned():
    tile = {"tile_m": 64, "tile_n": 64, "rows_per_thread": 8}
    begun, odd = (transposed(rows, **tile).memory_bytes for rows in (3072, 3073))
    assert odd > 1.05 * begun
    aligned = transposed(3073, **tile, align_stores=32).memory_bytes
    assert aligned < 1.02 * begun


def test_tiles_with_aligned_stores_overlap():
    tile = {"tile_m": 64, "tile_n": 64, "rows_per_thread": 8}
    work = transposed(56 * 9, 64, **tile, align_stores=32)
    assert work.blocks == 10  # one more, since the first one may begin before the matrix
    assert work.bytes_loaded * work.steps == 64 * 64 * 4
    assert work.bytes_stored == 56 * 64 * 4


def test_tiles_with_aligned_loads_overlap():
    tile = {"tile_m": 64, "tile_n": 64, "rows_per_thread": 8, "vector_load": 4, "align_loads": 16}
    work = transposed(64, 60 * 9 + 4, **tile)
    assert work.blocks == 10
    assert work.bytes_loaded * work.steps == 64 * 64 * 4
    assert work.bytes_stored == 64 * 60 * 4


def test_a_narrow_matrix_is_contiguous():
    narrow = transposed(3, 2048, tile_m=3, tile_n=256, rows_per_thread=3)
    assert narrow.bytes_stored == narrow.bytes_loaded == 3 * 256 * 4


def test_tiles_taken_along_rows_or_columns_move_fewer_bytes():
    rows, groups, columns = (transposed(raster_group=group).memory_bytes for group in (1, 4, 32))
    assert rows == columns < groups < 1.05 * rows


def wavefronts(schedule, size):
    """Clocks in which a block's warps store micro-tiles to shared memory, by the banks of each word."""
    served = min(32, 128 // (schedule.vector_store * size))  # lanes at once
    total = 0
    for first in range(0, schedule.threads, served):
        for j in range(schedule.vector_load):
            words = {}
            for thread in range(first, first + served):
                m = thread // schedule.lanes_n * schedule.vector_store
                group = thread % schedule.lanes_n
                column = m ^ (group * schedule.group_shift(size) % schedule.tile_m if schedule.swizzle else 0)
                index = (group * schedule.vector_load + j) * schedule.tile_m + group * schedule.pad + column
                for word in range(index * size // 4, (index + schedule.vector_store) * size // 4):
                    words.setdefault(word % 32, set()).add(word)
            total += max(map(len, words.values()))
    return total * (schedule.rows_per_thread // schedule.vector_store)


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("tile", [(32, 32, 1, 1), (64, 64, 4, 4), (64, 32, 2, 2), (128, 64, 1, 2), (16, 64, 1, 1)])
@pytest.mark.parametrize("layout", ["plain", "padded", "swizzled"])
def test_bank_conflicts_are_those_of_the_addresses(size, tile, layout):
    m, n, load, store = tile
    schedule = TransposeSchedule(m, n, 8, min(load, 16 // size), min(store, 16 // size), swizzle=layout == "swizzled")
    if layout == "padded":
        schedule = replace(schedule, pad=schedule.group_shift(size))
    (work,) = TRANSPOSE.workload(TransposeProblem(1024, 1024, size), schedule, H200)
    loads = m * n * size // 128  # of whole rows, which meet in no bank
    assert work.shared_clocks == loads + wavefronts(schedule, size)
