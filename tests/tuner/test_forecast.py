"""What is known of a schedule before it is compiled."""

from dataclasses import replace

import pytest

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.program import Launch, Program
from autotune.devices.model import estimated_resources
from autotune.devices.pipeline import modelled_seconds
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.registry import operator
from autotune.tuner.forecast import forecast

H200, TRANSPOSE = named_device("h200"), operator("transpose")
PROBLEM = TransposeProblem(4096, 4096, 4)
SCHEDULE = TRANSPOSE.default(PROBLEM, H200)


def kernel(blocks, threads=256, shared_bytes=3 * 1024):
    return Program("", (), (Launch("kernel", (blocks, 1, 1), (threads, 1, 1), shared_bytes),))


def known(source):
    """The forecast of a schedule whose kernel is this one."""
    return forecast(replace(TRANSPOSE, emit=lambda problem, schedule: source), PROBLEM, SCHEDULE, H200)


def test_sizes_count_in_octaves():
    found = known(kernel(16384))
    assert found.seconds == modelled_seconds(TRANSPOSE, PROBLEM, SCHEDULE, H200)
    assert H200.sm_count == 132
    registers = estimated_resources(PROBLEM, kernel(16384), H200).registers
    assert registers == 85, "so that two blocks of 256 threads fit"
    assert found.shape == pytest.approx((14 / 8, 8 / 8, 12 / 8, 1 / 8, 16384 / (264 * 63)))


@pytest.mark.parametrize(("blocks", "filled"), [(0, 0), (1, 1 / 132), (132, 1), (133, 133 / 264)])
def test_blocks_fill_whole_waves(blocks, filled):
    alone = kernel(blocks, shared_bytes=150 * 1024)  # on its SM
    assert known(alone).shape.filled == pytest.approx(filled)
