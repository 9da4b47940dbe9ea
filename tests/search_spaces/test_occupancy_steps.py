"""How occupancy follows from each resource: against occupancy, asked for every amount."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.codegen.model.footprint import Footprint
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device, named_devices
from autotune.search_spaces.machine.occupancy import blocks_by_limiter, occupancy
from autotune.search_spaces.machine.occupancy_steps import Resource, Step, most_for_blocks, steps

KIB = 1024
UNIT = 128  # bytes in which every device allocates shared memory, or a multiple of it

footprints = st.builds(Footprint, st.integers(1, 1024), st.integers(0, 227 * KIB), st.integers(1, 255))
device_specs = st.sampled_from([named_device(name) for name in named_devices()])


def every_amount(spec: DeviceSpec, resource: Resource) -> range:
    """All that a block may have of it; of shared memory the last byte of each unit."""
    if resource is Resource.SHARED_BYTES:
        return range(0, spec.shared_per_block + 1, UNIT)
    return range(1, (spec.threads_per_block if resource is Resource.THREADS else spec.registers_per_thread) + 1)


@settings(max_examples=10)
@given(device_specs, footprints, st.sampled_from(Resource))
def test_each_amount_is_in_the_step_with_its_blocks(spec: DeviceSpec, block: Footprint, resource: Resource) -> None:
    found = steps(spec, block, resource)
    blocks = {}
    for amount in every_amount(spec, resource):
        changed = replace(block, **{resource: amount})
        blocks[amount] = occupancy(spec, changed.threads, changed.registers, changed.shared_bytes)
    for amount, expected in blocks.items():
        step = next((step for step in found if amount <= step.most), Step(0, 0, 0))
        assert step.blocks_per_sm == expected.blocks_per_sm
    assert [blocks[step.most].warps_per_sm for step in found] == [step.warps_per_sm for step in found]
    assert len({step.blocks_per_sm for step in found}) == len(found)


@settings(max_examples=10)
@given(device_specs, footprints, st.sampled_from(Resource), st.integers(1, 33))
def test_the_most_that_allows_so_many_blocks(
    spec: DeviceSpec, block: Footprint, resource: Resource, blocks: int
) -> None:
    fitting = []
    for amount in every_amount(spec, resource):
        changed = replace(block, **{resource: amount})
        allowed = blocks_by_limiter(spec, changed.threads, changed.registers, changed.shared_bytes)
        if allowed[resource.limiter] >= blocks:
            fitting.append(amount)
    assert most_for_blocks(spec, block, resource, blocks) == (fitting[-1] if fitting else None)


@pytest.mark.parametrize(
    ("shared", "resource", "expected"),
    [
        (48, Resource.SHARED_BYTES, 40 * KIB),  # 164 KiB of an SM for 4 blocks, 1 KiB of each for the system
        (48, Resource.REGISTERS, 64),
        (32, Resource.REGISTERS, 48),
    ],
)
def test_what_one_block_more_needs_on_an_a100(shared: int, resource: Resource, expected: int) -> None:
    spec, block = named_device("a100"), Footprint(256, shared * KIB, 64)
    blocks = occupancy(spec, block.threads, block.registers, block.shared_bytes).blocks_per_sm
    assert most_for_blocks(spec, block, resource, blocks + 1) == expected


def test_no_amount_of_registers_allows_so_many_blocks() -> None:
    assert most_for_blocks(named_device("a100"), Footprint(1024, 0, 32), Resource.REGISTERS, 33) is None
