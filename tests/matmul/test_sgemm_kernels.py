"""What sgemm's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from dataclasses import replace

import pytest
from planted import check_caught
from sgemm_cases import SPEC

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.codegen.model.schedule import Specialize
from autotune.emulator import verify
from autotune.search_spaces.matmul.sgemm import OPERATOR


def test_offsets_beyond_32_bits() -> None:
    """Rows so far apart that offsets inside of a tile need 64 bits; there is only one row of each."""
    problem = SgemmProblem(1, 70, 1, lda=2**30, ldb=2**30, ldc=2**30)
    source = OPERATOR.program(problem, OPERATOR.default(problem, SPEC), SPEC)
    assert "using Index = long long;" in source.source
    verify(problem, source)


def test_the_tiles_of_a_group_are_counted_in_32_bits() -> None:
    problem = SgemmProblem(1, 2**27, 1)
    few, many = (OPERATOR.violations(problem, SgemmSchedule(raster_group=rows), SPEC) for rows in (2**12 - 1, 2**12))
    assert [line for line in many if line not in few] == [
        "4096 rows of 1048576 tiles in a group (raster_group) are over 4294967295 tiles"
    ]


PIPELINED = SgemmSchedule(stages=3, copy_b=CopyMode.ASYNC_COPY, block_m=64, block_n=64, warp_m=32, warp_n=64)


@pytest.mark.parametrize(
    ("schedule", "right"),
    [
        (PIPELINED, "tile + stages - 1 < tiles"),
        (replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, copy_steps=4), "tile + stages < tiles"),
    ],
)
def test_planted_copy_beyond_the_last_tile_is_caught(schedule: SgemmSchedule, right: str) -> None:
    problem = SgemmProblem(64, 64, 64, transpose_a=True)
    source = OPERATOR.program(problem, schedule, SPEC)
    check_caught(problem, source, right, right.replace("<", "<="))


def test_planted_bug_of_clusters_is_caught() -> None:
    problem = SgemmProblem(64, 192, 112)
    source = OPERATOR.program(problem, replace(PIPELINED, warps_k=2, cluster_k=4, grid_blocks=20), SPEC)
    check_caught(problem, source, "    store_sums();", "    if (cluster_rank() != 1) store_sums();")


def test_more_clusters_share_a_tile_than_one_adds_up() -> None:
    """Of 35 partial sums, groups of 16 are added up first: two whole ones, and one of three."""
    problem = SgemmProblem(20, 24, 35 * 16)
    verify(problem, OPERATOR.program(problem, replace(PIPELINED, grid_blocks=35), SPEC))


def test_equal_sources_serve_many_problems() -> None:
    schedule = SgemmSchedule()
    small, large = SgemmProblem(256, 128, 64), SgemmProblem(512, 384, 4096)
    assert OPERATOR.emit(small, schedule).source == OPERATOR.emit(large, schedule).source
    shaped = SgemmSchedule.parse(["specialize=shape"])
    assert OPERATOR.emit(small, shaped).source != OPERATOR.emit(large, shaped).source


EDGES = {
    "registers": PIPELINED,
    "asynchronous": replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, copy_steps=4),
    "two stages": replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, stages=2),
    "direct": replace(PIPELINED, copy_a=CopyMode.DIRECT, pad_a=0, stages=2),
    "streamed": replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, grid_blocks=7),
    "clusters": replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, cluster_k=4),
}


def on_edges(schedule: SgemmSchedule) -> SgemmSchedule:
    return replace(schedule, vector_a=1, vector_b=1, vector_c=1, specialize=Specialize.SHAPE)


@pytest.mark.parametrize(("k", "transpose"), [(17, False), (49, True)])
@pytest.mark.parametrize("schedule", EDGES.values(), ids=EDGES)
def test_specialised_sources_need_no_guards_in_the_loop(schedule: SgemmSchedule, k: int, transpose: bool) -> None:
    """The last tiles overlap their neighbours, and the residue along k comes first: after it one tile, two, or more."""
    problem = SgemmProblem(97, 70, k, transpose_a=transpose, transpose_b=transpose, batch=2, beta_nonzero=True)
    source = OPERATOR.program(problem, on_edges(schedule), SPEC)
    for fact in ("overlap_last_m", "overlap_last_n", "residue_first", "guard_k"):
        assert f"{fact} = true" in source.source
    verify(problem, source)


@pytest.mark.parametrize(
    ("size", "vectors", "overlaps"),
    [
        ({}, {}, True),
        ({"n": 63}, {}, False),  # no neighbour
        ({"n": 64}, {}, False),  # no edge
        ({"n": 72}, {"vector_b": 4, "vector_c": 4}, True),
        ({"n": 70, "ldb": 72, "ldc": 72}, {"vector_b": 4, "vector_c": 2}, False),
        ({"n": 70, "ldb": 72, "ldc": 72}, {"vector_b": 1, "vector_c": 4}, False),
        ({"n": 70, "ldb": 72, "ldc": 72}, {"vector_b": 2, "vector_c": 2}, True),
    ],
)
def test_a_tile_overlaps_where_it_has_a_neighbour_and_its_vectors_stay_aligned(
    size: dict[str, int], vectors: dict[str, int], overlaps: bool
) -> None:
    problem = SgemmProblem(**{"m": 64, "n": 70, "k": 40} | size)
    source = OPERATOR.program(problem, replace(on_edges(EDGES["asynchronous"]), **vectors), SPEC)
    assert ("overlap_last_n = true" in source.source) is overlaps
    verify(problem, source)


def test_planted_bug_at_an_edge_is_caught() -> None:
    """Four blocks share 3 steps along k."""
    problem = SgemmProblem(97, 70, 40, beta_nonzero=True)
    source = OPERATOR.program(problem, on_edges(EDGES["clusters"]), SPEC)
    check_caught(problem, source, "column < tile.bounds.begin_n", "column < tile.bounds.begin_n - 1")


def test_a_copys_rounds_may_begin_within_a_group_of_rows() -> None:
    """80 columns of A are copied by 256 threads, so 3 rows at a time, but lanes that share a tile along k have padding
    after each 4 rows.
    """
    problem = SgemmProblem(80, 128, 96, transpose_a=True)
    tile = {"block_m": 80, "block_k": 32, "warp_m": 40, "warp_n": 32, "thread_m": 20, "thread_n": 4}
    schedule = SgemmSchedule(**tile, pad_a=4, vector_a=1)
    assert schedule.lanes_k == 2
    source = OPERATOR.program(problem, schedule, SPEC)
    right = "group % rows == 0"
    check_caught(problem, source, right, "true")
