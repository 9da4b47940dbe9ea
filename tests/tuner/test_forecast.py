"""What is known of a schedule before it is compiled."""

import pytest

from autotune.codegen.source import KernelSource, Launch
from autotune.codegen.transpose.problem import TransposeProblem
from autotune.devices.model import estimated_resources, predict_seconds
from autotune.search_spaces.devices import named_device
from autotune.tuner.forecast import forecast

H200 = named_device("h200")
PROBLEM = TransposeProblem(4096, 4096, 4)


def kernel(blocks, threads=256, shared_bytes=3 * 1024):
    return KernelSource("", "kernel", (), Launch((blocks, 1, 1), (threads, 1, 1), shared_bytes))


def test_sizes_count_in_octaves():
    known = forecast(PROBLEM, kernel(16384), H200)
    resources = estimated_resources(PROBLEM, kernel(16384), H200)
    assert known.seconds == predict_seconds(PROBLEM, kernel(16384), resources, H200)
    assert H200.sm_count == 132
    assert resources.registers == 85, "so that two blocks of 256 threads fit"
    assert known.shape == pytest.approx((14 / 8, 8 / 8, 12 / 8, 1 / 8, 16384 / (264 * 63)))


@pytest.mark.parametrize(("blocks", "filled"), [(0, 0), (1, 1 / 132), (132, 1), (133, 133 / 264)])
def test_blocks_fill_whole_waves(blocks, filled):
    alone = kernel(blocks, shared_bytes=150 * 1024)  # on its SM
    assert forecast(PROBLEM, alone, H200).shape.filled == pytest.approx(filled)
