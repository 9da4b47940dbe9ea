"""Limits of a GPU from what the driver says, and where verified buffers lie in memory."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.devices.base import DeviceError
from autotune.devices.cuda import driver_spec
from autotune.devices.memory import GUARD_BYTES, guarded_bytes, guarded_pointer
from autotune.search_spaces.machine.devices import named_device

# As deviceQuery prints them on an H200.
H200 = {
    "compute_capability_major": 9,
    "compute_capability_minor": 0,
    "multiprocessor_count": 132,
    "l2_cache_size": 62914560,
    "clock_rate": 1980000,
    "memory_clock_rate": 3201000,
    "global_memory_bus_width": 6144,
    "max_threads_per_block": 1024,
    "max_threads_per_multiprocessor": 2048,
    "max_blocks_per_multiprocessor": 32,
    "max_registers_per_block": 65536,
    "max_registers_per_multiprocessor": 65536,
    "max_shared_memory_per_block_optin": 232448,
    "max_shared_memory_per_multiprocessor": 233472,
    "reserved_shared_memory_per_block": 1024,
}


def spec(**changed: Any) -> Any:
    return driver_spec("NVIDIA H200", SimpleNamespace(**H200 | changed))


def test_a_gpu_that_is_here_equals_the_one_of_the_device_file_but_for_its_bandwidth() -> None:
    assert replace(spec(), bandwidth=4.8e12) == named_device("h200")
    assert spec().bandwidth == pytest.approx(4.917e12, rel=1e-3)


def test_what_the_driver_says_counts_more_than_the_table() -> None:
    assert spec(max_blocks_per_multiprocessor=24).blocks_per_sm == 24


def test_a_hidden_memory_clock_falls_back_to_the_device_file() -> None:
    assert spec(memory_clock_rate=0).bandwidth == 4.8e12
    with pytest.raises(DeviceError, match="no device file has it"):
        driver_spec("NVIDIA Unheard", SimpleNamespace(**H200 | {"memory_clock_rate": 0}))


def test_an_unknown_compute_capability_is_one_line() -> None:
    with pytest.raises(DeviceError, match=r"^NVIDIA H200: unknown compute capability 6.1; known: .*9.0"):
        spec(compute_capability_major=6, compute_capability_minor=1)


@given(
    base=st.integers(0, 2**40), size=st.integers(0, 10**10), alignment=st.sampled_from([1, 2, 4, 8, 16, 32, 128, 256])
)
def test_a_buffer_lies_between_guards_and_is_aligned_as_declared(base: int, size: int, alignment: int) -> None:
    pointer = guarded_pointer(base, alignment)
    assert pointer % alignment == 0
    assert pointer - base >= GUARD_BYTES
    assert base + guarded_bytes(size, alignment) - (pointer + size) >= GUARD_BYTES
    assert guarded_bytes(size, alignment) % 8 == 0


@given(base=st.integers(0, 2**40), alignment=st.sampled_from([1, 2, 4, 8]))
def test_a_buffer_is_aligned_no_better_than_declared_where_that_narrows_accesses(base: int, alignment: int) -> None:
    assert guarded_pointer(base, alignment) % (2 * alignment) != 0


@given(base=st.integers(0, 2**40), alignment=st.sampled_from([16, 64, 256]))
def test_a_buffer_for_the_widest_accesses_is_aligned_as_the_drivers_own(base: int, alignment: int) -> None:
    assert guarded_pointer(base, alignment) % 256 == 0
