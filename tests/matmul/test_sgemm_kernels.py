"""What sgemm's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from sgemm_cases import EDGES, PIPELINED, SPEC

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule, strip_width
from autotune.emulator import verify
from autotune.search_spaces.matmul.sgemm import OPERATOR
from autotune.verification import Mismatch, compare, poisoned


def test_offsets_beyond_32_bits():
    """Rows so far apart that offsets inside of a tile need 64 bits; there is only one row of each."""
    problem = SgemmProblem(1, 70, 1, lda=2**30, ldb=2**30, ldc=2**30)
    source = OPERATOR.program(problem, OPERATOR.default(problem, SPEC), SPEC)
    assert "using Index = long long;" in source.source
    verify(problem, source)


def test_the_tiles_of_a_group_are_counted_in_32_bits():
    problem = SgemmProblem(1, 2**27, 1)
    few, many = (OPERATOR.violations(problem, SgemmSchedule(raster_group=rows), SPEC) for rows in (2**12 - 1, 2**12))
    assert [line for line in many if line not in few] == [
        "4096 rows of 1048576 tiles in a group (raster_group) are over 4294967295 tiles"
    ]


@pytest.mark.parametrize(
    ("schedule", "right"),
    [
        (PIPELINED, "tile + stages - 1 < tiles"),
        (replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, copy_steps=4), "tile + stages < tiles"),
    ],
)
def test_planted_copy_beyond_the_last_tile_is_caught(schedule, right):
    problem = SgemmProblem(64, 64, 64, transpose_a=True)
    source = OPERATOR.program(problem, schedule, SPEC)
    check_caught(problem, source, right, right.replace("<", "<="))


def test_equal_sources_serve_many_problems():
    schedule = SgemmSchedule()
    small, large = SgemmProblem(256, 128, 64), SgemmProblem(512, 384, 4096)
    assert OPERATOR.emit(small, schedule).source == OPERATOR.emit(large, schedule).source
    shaped = SgemmSchedule.parse(["specialize=shape"])
    assert OPERATOR.emit(small, shaped).source != OPERATOR.emit(large, shaped).source


@pytest.mark.parametrize("schedule", EDGES.values(), ids=EDGES)
def test_specialised_sources_need_no_guards_in_the_loop(schedule):
    source = OPERATOR.emit(SgemmProblem(97, 70, 17), schedule).source
    for fact in ("overlap_last_m", "overlap_last_n", "residue_first", "guard_k"):
        assert f"{fact} = true" in source


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
def test_a_tile_overlaps_where_it_has_a_neighbour_and_its_vectors_stay_aligned(size, vectors, overlaps):
    problem = SgemmProblem(**{"m": 64, "n": 70, "k": 40} | size)
    source = OPERATOR.program(problem, replace(EDGES["asynchronous"], **vectors), SPEC)
    assert ("overlap_last_n = true" in source.source) is overlaps
    verify(problem, source)


def test_a_copys_rounds_may_begin_within_a_group_of_rows():
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


def test_seeds_read_k_major_tiles_from_all_banks():
    """Shared memory serves eight lanes at once: their vectors lie in eight different groups of four banks."""
    problems = [SgemmProblem(m, 4096, 4096, transpose_b=True) for m in (1, 16, 64)]
    problems += [SgemmProblem(4096, n, 4096, transpose_b=True) for n in (16, 64)]
    seen = set()
    for problem in problems:
        for schedule in OPERATOR.candidates(problem, SPEC):
            for operand, side in (("a", "m"), ("b", "n")):
                if schedule.k_major(problem, operand):
                    width = strip_width(getattr(schedule, f"thread_{side}"))
                    lanes = min(8, getattr(schedule, f"warp_{side}") // getattr(schedule, f"thread_{side}"))
                    row = width * schedule.block_k + getattr(schedule, f"pad_{operand}")
                    columns = max(1, min(lanes, 8 // schedule.lanes_k))
                    vectors = [lane * row // 4 + k for lane in range(columns) for k in range(min(8, schedule.lanes_k))]
                    assert len({vector % 8 for vector in vectors}) == len(vectors), schedule
                    seen.add(operand)
    assert seen == {"a", "b"}


def tf32(x):
    """Rounded to the 10 bits of a significand that tensor cores multiply."""
    return ((x.view(np.uint32) + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("k", [1, 16, 256, 4096])
def test_the_tolerance_is_that_of_float32_sums(k):
    """Here, sums of one term after the other were off by 5 % to 17 % of it, and exact sums of TF32 24 to 331 times."""
    problem = SgemmProblem(64, 64, k)
    inputs = problem.inputs(0)
    expected = problem.reference(inputs, problem.scalars)["c"]
    a, b, c = problem.tensors
    left, right = a.view(inputs["a"])[0], b.view(inputs["b"])[0]
    alpha = np.float32(problem.scalars["alpha"])

    def judged(product):
        return compare(c, product.astype(np.float32).reshape(-1), expected, poisoned(c))

    terms = left[:, None, :] * right.T[None, :, :]
    in_order = alpha * np.cumsum(terms, axis=-1, dtype=np.float32)[..., -1]
    assert isinstance(judged(in_order), float)
    exact = alpha * (tf32(left).astype(np.float64) @ tf32(right).astype(np.float64))
    assert isinstance(judged(exact), Mismatch)
    without_one_term = alpha * (in_order / alpha - terms[..., 0])
    assert isinstance(judged(without_one_term), Mismatch)
