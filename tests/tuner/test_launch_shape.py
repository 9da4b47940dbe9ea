"""What is known of a schedule before it is compiled."""

import pytest

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.model.footprint import Footprint
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.workload import Workload
from autotune.tuner.search.launch_shape import expected

H200, TRANSPOSE = named_device("h200"), operator("transpose")
PROBLEM = TransposeProblem(4096, 4096, 4)
SCHEDULE = TRANSPOSE.default(PROBLEM, H200)


def known(blocks, shared_bytes=3 * 1024):
    """What is expected of so many blocks of 256 threads, of which 85 registers each let an SM hold two."""
    launches = [Workload(blocks, Footprint(256, shared_bytes, 85), 0), Workload(1, Footprint(32), 0)]
    counted = TRANSPOSE.with_kernels(workload=lambda *_: launches)
    found = expected(counted, PROBLEM, SCHEDULE, H200)
    assert found.seconds == modelled_seconds(counted, PROBLEM, SCHEDULE, H200)
    return found


def test_sizes_count_in_octaves():
    assert H200.sm_count == 132
    assert known(16384).shape == pytest.approx((14 / 8, 8 / 8, 12 / 8, 1 / 8, 16384 / (264 * 63)))


@pytest.mark.parametrize(("blocks", "filled"), [(0, 0), (1, 1 / 132), (132, 1), (133, 133 / 264)])
def test_blocks_fill_whole_waves(blocks, filled):
    assert known(blocks, shared_bytes=150 * 1024).shape.filled == pytest.approx(filled)
