"""What a schedule makes of a problem, counted by hand."""

from dataclasses import replace

import pytest

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.registry import operator

H200 = named_device("h200")
SGEMM, TRANSPOSE = operator("sgemm"), operator("transpose")
# 64×64 words by a warp of 8×4 lanes and four warps, of which two share each half along k; k in steps of 16.
SCHEDULE = SgemmSchedule(
    block_m=64, block_n=64, block_k=16, warp_m=64, warp_n=32, thread_m=8, thread_n=8, warps_k=2, stages=3,
    copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, vector_a=1, vector_b=4, vector_c=4,
)  # fmt: skip


def counted(m, n, k, problem=None, **changes):
    wanted, schedule = SgemmProblem(m, n, k, **(problem or {})), replace(SCHEDULE, **changes)
    assert SGEMM.violations(wanted, schedule, H200) == []
    return SGEMM.workload(wanted, schedule, H200)


def test_a_block_for_each_tile_goes_through_all_of_k():
    work = counted(128, 192, 100)
    assert (work.blocks, work.warps, work.cluster, work.steps) == (6, 4, 1, 7)
    assert (work.ahead, work.in_flight) == (2, 2)
    assert work.bytes_loaded == 4 * 2 * 16 * 64
    assert work.bytes_stored == 4 * 64 * 64
    assert (work.summed_words, work.shared_vectors) == (64, 0)
    assert counted(128, 192, 100, warps_k=1).summed_words == 0


def test_a_step_multiplies_and_loads_fragments_and_copies():
    work = counted(64, 64, 64)
    assert work.computing == 64 * 64 * 16 / 32 + 4 * 8 * (2 + 2)  # four warps, 8 steps of each, two vectors of A and B
    assert work.copies == 64 * 16 / 32 + 64 * 16 / 4 / 32
    assert work.lines == 32 * 4 + 8 * 4  # four rows of A word by word; of B two rows of two lines
    assert counted(64, 64, 64, {"transpose_a": True}).lines == 32 * 1 + 8 * 4  # a row of A has two such lines


def test_through_registers_it_also_stores_to_shared_memory_and_one_tile_is_in_flight():
    changes = {"copy_a": CopyMode.REGISTERS, "vector_a": 4}
    work, copied = counted(64, 64, 64, **changes), counted(64, 64, 64)
    assert work.copies == 2 * 8
    assert work.computing == copied.computing + 8 * 4  # transposing, each word by itself
    assert work.in_flight == 1
    single = counted(64, 64, 64, stages=1, double_buffer_fragments=False, **changes)
    assert (single.ahead, single.in_flight) == (0, 0)


def test_a_direct_operand_is_loaded_by_all_who_multiply_it():
    direct = {"copy_a": CopyMode.DIRECT, "pad_a": 0}
    work = counted(64, 64, 64, stages=2, **direct)
    assert work.direct_loads == 4 * 8 * 8  # of four warps, 8 steps of each, word by word
    assert work.copies == 8
    assert work.lines == 256 * 8 + 8 * 4  # eight rows of A
    assert counted(64, 64, 64, stages=2, vector_a=4, **direct).direct_loads == 64


def test_what_lies_outside_is_copied_in_vain_but_not_read():
    inside, outside = counted(64, 64, 64), counted(64, 16, 64)
    assert (outside.copies, outside.computing) == (inside.copies, inside.computing)
    assert outside.bytes_loaded == 4 * (16 * 64 + 16 * 16)
    assert outside.lines == 32 * 4 + 8 * 4 / 4


def test_parts_of_a_sector_are_stored_one_by_one():
    assert counted(64, 64, 64, vector_c=1).bytes_stored == 4 * counted(64, 64, 64).bytes_stored


def test_a_grid_of_its_own_divides_the_steps_and_shares_tiles():
    work = counted(128, 192, 1600, grid_blocks=12)
    assert (work.blocks, work.steps) == (12, 50)
    assert work.shared_vectors == 2 * 8 * 8 / 4 / 2  # of two parts of a thread's tile, its share with another warp
    assert work.bytes_stored == 4 * 64 * 64
    whole = counted(128, 192, 1600, grid_blocks=3)
    assert (whole.steps, whole.shared_vectors) == (200, 0)
    assert whole.bytes_stored == 2 * 4 * 64 * 64
    assert counted(64, 64, 6400, grid_blocks=33).shared_vectors == (16 + 3) * 8


def test_a_cluster_divides_the_steps():
    work = counted(128, 192, 1600, cluster_k=4)
    assert (work.blocks, work.cluster, work.steps) == (24, 4, 25)


def test_an_sm_holds_as_many_blocks_as_registers_and_shared_memory_allow():
    assert counted(64, 64, 64).resident == 3
    assert counted(64, 64, 64, min_blocks_per_sm=4).resident == 4
    assert counted(64, 64, 64, stages=11).resident == 2
    assert counted(64, 64, 6400, grid_blocks=2).resident == 2  # adding up pieces takes more registers


@pytest.mark.parametrize("sizes", [(0, 5, 5), (5, 5, 0)])
def test_where_there_is_nothing_to_compute_a_block_has_a_step_all_the_same(sizes):
    work = SGEMM.workload(SgemmProblem(*sizes), replace(SCHEDULE, vector_b=1, vector_c=1), H200)
    assert work.steps == 1
    assert work.blocks == (0 if 0 in sizes[:2] else 1)


def test_a_transpose_moves_its_tile_in_one_step():
    work = TRANSPOSE.workload(TransposeProblem(100, 64, 8), TransposeSchedule(tile_m=32, tile_n=32), H200)
    assert (work.blocks, work.warps, work.steps) == (8, 8, 1)
    assert work.bytes_loaded == work.bytes_stored == 32 * 32 * 8
    assert work.resident == 8
