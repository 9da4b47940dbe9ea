"""Occupancy against published worked examples and against NVIDIA's own calculator, plus what must hold always."""

import random
import subprocess
from dataclasses import replace

import pytest
from cuda.pathfinder import find_nvidia_header_directory
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.machine.devices import named_device, named_devices
from autotune.search_spaces.machine.occupancy import (
    Limiter,
    blocks_by_limiter,
    blocks_per_sm,
    fitting_blocks,
    most_registers,
    occupancy,
    resident_blocks,
)
from autotune.search_spaces.machine.occupancy_steps import Resource, Step, most_for_blocks, steps
from autotune.search_spaces.machine.resources import footprint_violations

KIB = 1024
devices = st.sampled_from([named_device(identifier) for identifier in named_devices()])
block_sizes = st.integers(1, 1024)
register_counts = st.integers(0, 255)
shared_sizes = st.integers(0, 227 * KIB)


@pytest.mark.parametrize(
    ("device", "threads", "registers", "shared_bytes", "blocks", "limiter"),
    [
        ("a100", 256, 64, 48 * KIB, 3, Limiter.SHARED_MEMORY),
        ("a100", 256, 64, 32 * KIB, 4, Limiter.REGISTERS),
        # The kernel of the worked example in "How to Optimize a CUDA Matmul Kernel", Simon Boehm, 2022.
        ("a6000", 1024, 37, 8 * KIB, 1, Limiter.WARPS),
    ],
)
def test_worked_examples(device, threads, registers, shared_bytes, blocks, limiter):
    found = occupancy(named_device(device), threads, registers, shared_bytes)
    assert found.blocks_per_sm == blocks
    assert limiter in found.limiters
    assert found.warps_per_sm == blocks * threads // 32


def test_a_small_kernel_is_limited_by_blocks():
    found = occupancy(named_device("h200"), 32, 16, 0)
    assert (found.blocks_per_sm, found.limiters, found.fraction) == (32, (Limiter.BLOCKS,), 0.5)


@pytest.mark.parametrize(
    ("threads", "blocks", "registers"), [(128, 1, 255), (256, 2, 128), (256, 3, 80), (1024, 1, 64)]
)
def test_the_most_registers_with_which_so_many_blocks_fit(threads, blocks, registers):
    spec = named_device("h200")
    assert most_registers(spec, threads, blocks) == registers
    assert blocks_per_sm(spec, threads, registers, 0) >= blocks


@pytest.mark.parametrize(
    ("registers", "asked", "blocks"),
    [
        (64, 1, 1),  # as many as launch bounds ask for
        (64, 3, 2),  # no more than they ask for, of those that are allowed
        (64, 8, 4),
        (128, 8, 2),  # no more than fit
        (255, 0, 1),  # none is asked for
    ],
)
def test_launch_bounds_ask_for_blocks_that_fit(registers, asked, blocks):
    footprint = Footprint(256, registers=registers, min_blocks_per_sm=asked)
    assert fitting_blocks(footprint, named_device("h200"), (1, 2, 4, 8)) == blocks


@pytest.mark.parametrize(
    ("threads", "registers", "shared_bytes", "limiter"),
    [
        (1056, 16, 0, Limiter.WARPS),
        (128, 256, 0, Limiter.REGISTERS),
        (1024, 72, 0, Limiter.REGISTERS),
        (128, 32, 99 * KIB + 1, Limiter.SHARED_MEMORY),
    ],
)
def test_a_block_that_does_not_fit(threads, registers, shared_bytes, limiter):
    found = occupancy(named_device("rtx4090"), threads, registers, shared_bytes)
    assert (found.blocks_per_sm, found.fraction, found.limiters) == (0, 0.0, (limiter,))


@pytest.mark.parametrize("arguments", [(0, 32, 0), (32, -1, 0), (32, 32, -1)])
def test_amounts_that_cannot_be(arguments):
    with pytest.raises(ValueError, match="expected at least 1, 0 and 0"):
        occupancy(named_device("t4"), *arguments)


@given(devices, block_sizes, register_counts, shared_sizes)
def test_residents_fit_and_one_more_block_does_not(spec, threads, registers, shared_bytes):
    found = occupancy(spec, threads, registers, shared_bytes)
    warps = ceil_div(threads, 32)
    assert found.warps_per_sm == found.blocks_per_sm * warps
    assert 0 <= found.fraction <= 1
    assert found.warps_per_sm * 32 <= spec.threads_per_sm
    assert found.warps_per_sm * 32 * registers <= spec.registers_per_sm
    assert found.blocks_per_sm * (shared_bytes + spec.shared_reserved) <= spec.shared_per_sm
    assert found.blocks_per_sm <= spec.blocks_per_sm
    assert found.limiters


@given(devices, block_sizes, register_counts, shared_sizes, st.integers(0, 64), st.integers(0, 64 * KIB))
def test_more_of_anything_never_gives_more_blocks(spec, threads, registers, shared_bytes, more, more_shared):
    blocks = occupancy(spec, threads, registers, shared_bytes).blocks_per_sm
    assert occupancy(spec, threads + more, registers, shared_bytes).blocks_per_sm <= blocks
    assert occupancy(spec, threads, registers + more, shared_bytes).blocks_per_sm <= blocks
    assert occupancy(spec, threads, registers, shared_bytes + more_shared).blocks_per_sm <= blocks


CALCULATOR = r"""
#include <cstdio>
#include "cuda_occupancy.h"

int main() {
  cudaOccDeviceProp device;
  cudaOccFuncAttributes function;
  cudaOccDeviceState state;
  device.warpSize = 32;
  device.numSms = 1;
  device.sharedMemPerBlock = 48 * 1024;
  function.maxThreadsPerBlock = 1024;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.numBlockBarriers = 1;
  int threads;
  while (std::scanf("%d %d %d %d %d %d %zu %zu %zu %d %d %zu", &device.computeMajor, &device.computeMinor,
                    &device.maxThreadsPerBlock, &device.maxThreadsPerMultiprocessor, &device.regsPerBlock,
                    &device.regsPerMultiprocessor, &device.sharedMemPerBlockOptin, &device.sharedMemPerMultiprocessor,
                    &device.reservedSharedMemPerBlock, &threads, &function.numRegs,
                    &function.maxDynamicSharedSizeBytes) == 12) {
    cudaOccResult result;
    cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, threads,
                                                                 function.maxDynamicSharedSizeBytes);
    std::printf("%d\n", error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -int(error));
  }
}
"""


def test_agrees_with_the_calculator_of_the_cuda_toolkit(tmp_path):
    headers = find_nvidia_header_directory("cudart")
    assert headers, "cuda_occupancy.h comes with the nvidia-cuda-runtime wheel"
    source = tmp_path / "calculator.cpp"
    source.write_text(CALCULATOR)
    program = tmp_path / "calculator"
    subprocess.run(["g++", f"-I{headers}", source, "-o", program], check=True)

    draw = random.Random(0)
    # Embedded GPUs allow a block half of an SM's registers.
    embedded = replace(named_device("rtx3090"), registers_per_block=32 * KIB)
    cases = [
        (spec, draw.choice([32, 64, 128, 256, 512, draw.randint(1, 1024)]), draw.randint(1, 255), shared)
        for spec in [*map(named_device, named_devices()), embedded]
        for shared in [0, spec.shared_per_block, *(draw.randint(0, spec.shared_per_block) for _ in range(300))]
    ]
    lines = [
        (
            *spec.compute_capability,
            spec.threads_per_block,
            spec.threads_per_sm,
            spec.registers_per_block,
            spec.registers_per_sm,
            spec.shared_per_block,
            spec.shared_per_sm,
            spec.shared_reserved,
            threads,
            registers,
            shared,
        )
        for spec, threads, registers, shared in cases
    ]
    text = "\n".join(" ".join(map(str, line)) for line in lines)
    answers = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.split()
    ours = [occupancy(*case).blocks_per_sm for case in cases]
    assert list(map(int, answers)) == ours
    assert len(set(ours)) > 10


def test_blocks_that_must_fit_an_sm_do_and_one_always_does():
    spec = named_device("h200")
    assert resident_blocks(Footprint(256, registers=255), spec) == 1
    assert resident_blocks(Footprint(256, registers=255, min_blocks_per_sm=4), spec) == 4
    assert resident_blocks(Footprint(256, registers=16, wanted_registers=255), spec) == 1
    assert resident_blocks(Footprint(1024, registers=255, shared_bytes=2**30), spec) == 1


UNIT = 128  # bytes in which every device allocates shared memory, or a multiple of it
footprints = st.builds(Footprint, st.integers(1, 1024), st.integers(0, 227 * KIB), st.integers(1, 255))
device_specs = st.sampled_from([named_device(name) for name in named_devices()])


def every_amount(spec, resource):
    """All that a block may have of it; of shared memory the last byte of each unit."""
    if resource is Resource.SHARED_BYTES:
        return range(0, spec.shared_per_block + 1, UNIT)
    return range(1, (spec.threads_per_block if resource is Resource.THREADS else spec.registers_per_thread) + 1)


@settings(max_examples=10)
@given(device_specs, footprints, st.sampled_from(Resource))
def test_each_amount_is_in_the_step_with_its_blocks(spec, block, resource):
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
def test_the_most_that_allows_so_many_blocks(spec, block, resource, blocks):
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
def test_what_one_block_more_needs_on_an_a100(shared, resource, expected):
    spec, block = named_device("a100"), Footprint(256, shared * KIB, 64)
    blocks = occupancy(spec, block.threads, block.registers, block.shared_bytes).blocks_per_sm
    assert most_for_blocks(spec, block, resource, blocks + 1) == expected


def test_no_amount_of_registers_allows_so_many_blocks():
    assert most_for_blocks(named_device("a100"), Footprint(1024, 0, 32), Resource.REGISTERS, 33) is None


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
def test_the_first_resource_of_which_a_block_takes_too_much(device, footprint, violation):
    found = list(footprint_violations(named_device(device), footprint))
    assert [line[: len(violation)] for line in found] == [violation] * bool(violation)
