"""Bugs planted into emitted kernels: whatever the generator might forget, the emulator must notice."""

import re
from dataclasses import replace
from functools import partial

import pytest

from autotune.codegen.matmul.sgemm.emit import emit
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.emulator import EmulatorError, verify

SMALL = SgemmSchedule(
    block_m=32, block_n=32, block_k=8, warp_m=16, warp_n=32, thread_m=4, thread_n=4, raster_group=2, stages=1,
    double_buffer_fragments=False,
)  # fmt: skip
PIPELINED = replace(SMALL, stages=3, copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, vector_a=1)
SPLIT = replace(PIPELINED, grid_blocks=3, double_buffer_fragments=True)  # four tiles, of which two are shared
K_PARTS = replace(PIPELINED, warps_k=2)
CLUSTER = replace(PIPELINED, cluster_k=4)  # the last two blocks have fewer steps than the others
SCHEDULES = {"single": SMALL, "pipelined": PIPELINED, "split": SPLIT, "k_parts": K_PARTS, "cluster": CLUSTER}
PROBLEM = SgemmProblem(m=64, n=64, k=48)


def caught(problem, schedule, plant):
    """Whether the emulator sees what `plant` did to the emitted text."""
    source = emit(problem, schedule)
    text = plant(source.source)
    assert text != source.source
    try:
        verify(problem, replace(source, source=text))
    except EmulatorError:
        return True
    return False


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_the_kernels_are_right_as_emitted(schedule):
    verify(PROBLEM, emit(PROBLEM, schedule))


def test_the_sums_of_a_cluster_may_need_more_room_than_its_tiles():
    schedule = replace(SMALL, cluster_k=2)
    verify(PROBLEM, emit(PROBLEM, schedule))
    assert schedule.shared_bytes(PROBLEM) == 4 * 32 * 32 > replace(schedule, cluster_k=1).shared_bytes(PROBLEM)


def without(text, words, index):
    """The text without the occurrence of that index."""
    parts = text.split(words)
    return words.join(parts[: index + 1]) + words.join(["", *parts[index + 1 :]])[len(words) :]


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_no_barrier_may_be_missing(schedule):
    barrier = "__syncthreads();"
    for index in range(emit(PROBLEM, schedule).source.count(barrier)):
        assert caught(PROBLEM, schedule, partial(without, words=barrier, index=index)), f"barrier {index}"


@pytest.mark.parametrize(
    ("schedule", "old", "new"),
    [
        (PIPELINED, r"async_wait<.*>\(\);", ""),
        (PIPELINED, r"async_wait<stages - 2>\(\);", "async_wait<stages - 1>();"),
        (PIPELINED, r"(?<=  )async_commit\(\);", ""),
        (SPLIT, r"__threadfence\(\);", ""),
        (SPLIT, r"atomicAdd\((.*), 1\)", r"(\1)[0]++"),
        (SPLIT, r"\*counter = 0;", "*counter = 1;"),
        (CLUSTER, r"(?<=store_sums\(\);\n    )barrier\(\);", ""),
        (CLUSTER, r"sums\.barrier\(\);", ""),
        (CLUSTER, r"sums\.barrier\(\);", "if (cluster_rank() == 0) sums.barrier();"),
        (CLUSTER, r"cluster_barrier\(\);", "__syncthreads();"),
        (CLUSTER, r"shared_of_rank\(theirs, part", "shared_of_rank(theirs, 1 + part"),
        (K_PARTS, r"(?<=store_sums\(\);\n    )barrier\(\);", ""),
    ],
)
def test_synchronisation_may_not_be_missing(schedule, old, new):
    assert caught(PROBLEM, schedule, lambda text: re.sub(old, new, text))


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize("size", [{"m": 31}, {"n": 31}, {"k": 7}], ids=str)
def test_edges_need_their_guards(schedule, size):
    problem = replace(PROBLEM, lda=0, ldb=0, ldc=0, **size)
    narrow = replace(schedule, vector_a=1, vector_b=1, vector_c=1)
    verify(problem, emit(problem, narrow))
    for_whole_tiles = emit(PROBLEM, narrow).source
    assert caught(problem, narrow, lambda source: for_whole_tiles)
