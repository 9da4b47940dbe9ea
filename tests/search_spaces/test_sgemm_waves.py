"""Tiles that fill a device in whole waves."""

import pytest

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.sgemm import OPERATOR
from autotune.search_spaces.matmul.sgemm.waves import filling

H200 = named_device("h200")


def test_a_wave_of_clusters_is_filled() -> None:
    """9 × 14 tiles of 88×96, each of two blocks, are 252 of the 264 blocks that fit."""
    found = {(s.block_m, s.block_n, s.cluster_k): s for s in filling(SgemmProblem(777, 1333, 555), H200)}
    schedule = found[88, 96, 2]
    assert (schedule.thread_m, schedule.thread_n, schedule.warps, schedule.min_blocks_per_sm) == (22, 6, 4, 2)


def test_seeds_fit_them_to_the_problem() -> None:
    legal = OPERATOR.seeds(SgemmProblem(777, 1333, 555), H200)
    fitted = [seed for seed in legal if (seed.block_m, seed.block_n, seed.cluster_k) == (88, 96, 2)]
    assert [seed.vector_b for seed in fitted] == [1]


@pytest.mark.parametrize("device", ["a100", "t4"])
def test_devices_without_clusters_get_single_blocks(device: str) -> None:
    found = filling(SgemmProblem(777, 1333, 555), named_device(device))
    assert found
    assert all(schedule.cluster_k == 1 for schedule in found)


def test_many_waves_need_no_such_tiles() -> None:
    assert not filling(SgemmProblem(8192, 8192, 8192), H200)
