"""What the time model that follows a pipeline knows."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.devices import pipeline
from autotune.devices.model import fixed_seconds
from autotune.devices.pipeline import LATENCY_SECONDS, modelled_seconds
from autotune.devices.roofline import roofline
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.registry import operator
from autotune.search_spaces.workload import Workload

H200, SGEMM = named_device("h200"), operator("sgemm")
SMALL = SgemmSchedule(
    64, 64, 16, 32, 64, 8, 8, copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, vector_a=1, stages=3
)


def clocks(**changes):
    """What counts add to the time of a block of four warps."""
    times = []
    for counts in ({}, changes):
        work = replace(Workload(blocks=1, warps=4, resident=8, bytes_loaded=0, bytes_stored=0), **counts)
        counted = replace(SGEMM, workload=lambda *_, work=work: work)
        times.append(modelled_seconds(counted, SgemmProblem(1, 1, 1), SMALL, H200))
    return (times[1] - times[0]) * H200.clock_hz


ISSUE, COPY, LATENCY = pipeline._ISSUE_CLOCKS, pipeline._COPY, LATENCY_SECONDS * H200.clock_hz
BARRIER, LINE = pipeline._BARRIER_CLOCKS, pipeline._LINE_CLOCKS
TWO = {"blocks": 2 * H200.sm_count}  # for each SM


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"computing": 4000}, 1000 * ISSUE),
        ({"computing": 4000, "warps": 2}, 2000 * ISSUE),
        ({"computing": 7000, "warps": 7}, 2000 * ISSUE),
        ({"computing": 4000, **TWO}, 2000 * ISSUE - BARRIER / 2),
        ({"computing": 4000, **TWO, "resident": 1}, 2000 * ISSUE + LATENCY + BARRIER),
        ({"copies": 400}, 100 * COPY * ISSUE),
        ({"copies": 400, "ahead": 2}, 300 * COPY * ISSUE),
        ({"direct_loads": 40}, 10 * pipeline._DIRECT_LOAD * ISSUE),
        ({"lines": 4000, **TWO}, 8000 * LINE - BARRIER),
        ({"bytes_loaded": 41000, **TWO}, 82000 / pipeline._LOADED_BYTES - BARRIER),
        ({"bytes_stored": 13000}, 13000 / pipeline._STORED_BYTES),
        ({"steps": 5, "in_flight": 2}, 4 * LATENCY / 2),
        ({"steps": 5, "in_flight": 0}, 4 * (LATENCY + BARRIER)),
        ({"steps": 5, "in_flight": 4, "computing": 40000}, 5 * 10000 * ISSUE + 4 * BARRIER),
        ({"cluster": 2}, pipeline._CLUSTER_SECONDS * H200.clock_hz),
        ({"summed_words": 64}, 64 * pipeline._SUMMED_WORD_CLOCKS),
        ({"shared_vectors": 8}, 3e-6 * H200.clock_hz + 8 * pipeline._SHARED_VECTOR_CLOCKS),
    ],
)
def test_what_is_counted_takes_its_time(counts, expected):
    assert clocks(**counts) == pytest.approx(expected)


def seconds(*sizes, **changes):
    """Modelled, of 64×64 tiles with a block for each, in steps of 16 along k."""
    wanted = SgemmProblem(*sizes)
    return modelled_seconds(SGEMM, wanted, replace(SMALL, **changes), H200)


def test_a_wave_takes_as_long_as_its_fullest_sm_and_one_waits_for_the_other():
    resident = SGEMM.workload(SgemmProblem(64, 64, 4096), SMALL, H200).resident
    held = [seconds(64 * 132 * blocks, 64, 4096) - fixed_seconds(shared=False) for blocks in range(1, resident + 2)]
    assert seconds(64, 64, 4096) - fixed_seconds(shared=False) == held[0]
    assert held[1] < 1.01 * held[0]  # two warps each, for four schedulers
    assert held[3] == pytest.approx(2 * held[0], rel=0.15)
    assert held[resident] == pytest.approx(held[resident - 1] + held[0])


def test_a_block_waits_for_each_step_unless_more_are_in_flight():
    tile = {"block_m": 16, "block_n": 32, "warp_m": 16, "warp_n": 32, "thread_m": 4, "thread_n": 4}
    steps = 4096 // 16
    single = seconds(16, 32, 4096, stages=1, double_buffer_fragments=False, **tile)
    double, triple = (seconds(16, 32, 4096, stages=stages, **tile) for stages in (2, 3))
    assert double - triple == pytest.approx(steps * LATENCY_SECONDS / 2, rel=0.02)
    assert single - double > steps * LATENCY_SECONDS / 4
    full = [seconds(16 * 132 * 16, 32, 4096, stages=stages, **tile) for stages in (2, 3)]
    assert full[0] == pytest.approx(full[1], rel=0.01)  # many blocks hide each other's waits


def test_word_by_word_takes_longer_than_in_vectors():
    loaded = {"copy_a": CopyMode.REGISTERS, "copy_steps": 1}
    assert seconds(64 * 132, 512, 512, vector_a=1, **loaded) > 1.05 * seconds(64 * 132, 512, 512, vector_a=4, **loaded)
    assert seconds(8192, 8192, 8, vector_c=1) > 1.5 * seconds(8192, 8192, 8, vector_c=4)


def test_clusters_of_four_do_not_fill_the_device():
    pairs, fours = (seconds(64 * 132 // size, 64, 64 * 4096, cluster_k=size, warps_k=2) for size in (2, 4))
    assert fours > 0.8 * pairs  # though each goes through half as much
    assert seconds(64 * 30, 64, 64 * 4096, cluster_k=4, warps_k=2) < 0.6 * pairs


def test_tiles_that_are_shared_cost_their_fix_up():
    whole, shared = (seconds(64 * tiles, 64, 4096, grid_blocks=132) for tiles in (132, 131))
    assert 2e-6 < shared - whole < 4e-6


def test_a_device_of_twice_the_rates_takes_half_as_long_but_for_what_is_latency():
    wanted = SgemmProblem(8192, 8192, 8192)
    fast = replace(H200, clock_hz=2 * H200.clock_hz, bandwidth=2 * H200.bandwidth)
    slow, quick = (modelled_seconds(SGEMM, wanted, SMALL, limits) for limits in (H200, fast))
    assert quick == pytest.approx(slow / 2, rel=1e-2)


sizes = st.floats(0, 13).map(lambda exponent: int(2**exponent))


@given(sizes, sizes, sizes)
def test_no_modelled_time_is_below_the_roofline(m, n, k):
    wanted = SgemmProblem(m, n, k)
    for one in SGEMM.seeds(wanted, H200)[::8]:
        assert modelled_seconds(SGEMM, wanted, one, H200) > fixed_seconds(shared=False) + roofline(wanted, H200)
