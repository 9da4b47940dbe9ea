"""What a block may take of a device before it is compiled."""

import pytest

from autotune.codegen.model.footprint import Footprint
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.resources import footprint_violations


@pytest.mark.parametrize(
    ("device", "footprint", "violation"),
    [
        ("h200", Footprint(1024, registers=64), ""),
        ("h200", Footprint(1056), "1056 threads over the 1024 of a block"),
        ("h200", Footprint(64, registers=256), "about 256 registers over the 255 of a thread"),
        ("h200", Footprint(1024, min_blocks_per_sm=3), "min_blocks_per_sm 3 over the 2 blocks of 1024 threads"),
        ("h200", Footprint(64, architecture="sm_90a"), ""),
        ("h200", Footprint(64, architecture="sm_100a"), "instructions of sm_100a are not those of sm_90"),
        ("h200", Footprint(64, cluster=2), ""),
        ("a100", Footprint(64, cluster=2), "a cluster of 2 blocks needs sm_90 or newer, not sm_80"),
        ("a100", Footprint(64, 166_912), ""),
        ("a100", Footprint(64, 166_913), "shared memory 166913 B over the 166912 B a block may have on sm_80"),
    ],
)
def test_the_first_resource_of_which_a_block_takes_too_much(device: str, footprint: Footprint, violation: str) -> None:
    found = list(footprint_violations(named_device(device), footprint))
    assert [line[: len(violation)] for line in found] == [violation] * bool(violation)
