"""What is said about a driver that is missing, broken or old, by stand-ins for the driver's functions."""

from dataclasses import replace
from types import SimpleNamespace

import cuda.core
import pytest
from cuda.bindings import driver
from cuda.core import system
from cuda.pathfinder import DynamicLibNotFoundError
from hypothesis import given
from hypothesis import strategies as st

from autotune.devices.base import DeviceError
from autotune.devices.conditions import Conditions
from autotune.devices.cuda import driver_spec
from autotune.devices.driver import check_device, cuda_device_count, cuda_version, reason
from autotune.devices.memory import GUARD_BYTES, guarded_bytes, guarded_pointer
from autotune.search_spaces.machine.devices import named_device

SUCCESS = driver.CUresult.CUDA_SUCCESS


@pytest.fixture
def fake(monkeypatch):
    def install(status=SUCCESS, version=13000, names=("NVIDIA H200", "NVIDIA T4")):
        monkeypatch.setattr(driver, "cuInit", lambda _: (status,))
        monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: (SUCCESS, version))
        monkeypatch.setattr(driver, "cuDeviceGetCount", lambda: (SUCCESS, len(names)))
        monkeypatch.setattr(cuda.core, "Device", lambda ordinal: SimpleNamespace(name=names[ordinal]))

    return install


@pytest.fixture
def no_driver(monkeypatch):
    def absent(_):
        raise DynamicLibNotFoundError('"cuda" is an NVIDIA driver library\nand was not found')

    monkeypatch.setattr(driver, "cuInit", absent)


def complaint(ordinal=0):
    with pytest.raises(DeviceError) as caught:
        check_device(ordinal)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_devices_of_a_good_driver(fake):
    fake()
    check_device(0)
    check_device(1)
    assert cuda_device_count() == 2


@pytest.mark.usefixtures("no_driver")
def test_no_driver():
    assert cuda_device_count() == 0
    assert complaint().startswith("no NVIDIA driver (libcuda.so.1) was found: install an NVIDIA driver r580 or newer")


def test_no_gpu(fake):
    fake(driver.CUresult.CUDA_ERROR_NO_DEVICE)
    assert cuda_device_count() == 0
    assert complaint().startswith("the NVIDIA driver sees no GPU")


def test_a_driver_that_does_not_start(fake):
    fake(driver.CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
    assert cuda_device_count() == 0
    assert "does not start (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)" in complaint()


def test_an_old_driver(fake):
    fake(version=12080)
    assert complaint().startswith("the NVIDIA driver supports CUDA 12.8, and CUDA 13.0 is needed: install")
    assert "r580" in complaint()


@pytest.mark.parametrize("ordinal", [2, -1])
def test_an_ordinal_that_is_not_there(ordinal, fake):
    fake()
    assert complaint(ordinal) == f"there is no CUDA device {ordinal}; there are: 0 (NVIDIA H200), 1 (NVIDIA T4)"


def test_versions_as_people_write_them():
    assert [cuda_version(number) for number in (12080, 13000, 13010)] == ["12.8", "13.0", "13.1"]


def test_the_reason_of_an_error_is_its_first_sentence():
    error = RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS: While executing, an invalid address. This leaves the process.")
    assert reason(error) == "CUDA_ERROR_ILLEGAL_ADDRESS: While executing, an invalid address"


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


def spec(**changed):
    return driver_spec("NVIDIA H200", SimpleNamespace(**H200 | changed))


def test_a_gpu_that_is_here_equals_the_one_of_the_device_file_but_for_its_bandwidth():
    assert replace(spec(), bandwidth=4.8e12) == named_device("h200")
    assert spec().bandwidth == pytest.approx(4.917e12, rel=1e-3)


def test_what_the_driver_says_counts_more_than_the_table():
    assert spec(max_blocks_per_multiprocessor=24).blocks_per_sm == 24


def test_a_hidden_memory_clock_falls_back_to_the_device_file():
    assert spec(memory_clock_rate=0).bandwidth == 4.8e12
    with pytest.raises(DeviceError, match="no device file has it"):
        driver_spec("NVIDIA Unheard", SimpleNamespace(**H200 | {"memory_clock_rate": 0}))


def test_an_unknown_compute_capability_is_one_line():
    with pytest.raises(DeviceError, match=r"^NVIDIA H200: unknown compute capability 6.1; known: .*9.0"):
        spec(compute_capability_major=6, compute_capability_minor=1)


@given(
    base=st.integers(0, 2**40), size=st.integers(0, 10**10), alignment=st.sampled_from([1, 2, 4, 8, 16, 32, 128, 256])
)
def test_a_buffer_lies_between_guards_and_is_aligned_as_declared(base, size, alignment):
    pointer = guarded_pointer(base, alignment)
    assert pointer % alignment == 0
    assert pointer - base >= GUARD_BYTES
    assert base + guarded_bytes(size, alignment) - (pointer + size) >= GUARD_BYTES
    assert guarded_bytes(size, alignment) % 8 == 0


@given(base=st.integers(0, 2**40), alignment=st.sampled_from([1, 2, 4, 8]))
def test_a_buffer_is_aligned_no_better_than_declared_where_that_narrows_accesses(base, alignment):
    assert guarded_pointer(base, alignment) % (2 * alignment) != 0


@given(base=st.integers(0, 2**40), alignment=st.sampled_from([16, 64, 256]))
def test_a_buffer_for_the_widest_accesses_is_aligned_as_the_drivers_own(base, alignment):
    assert guarded_pointer(base, alignment) % 256 == 0


def silent():
    raise system.NotSupportedError(3)


class Nvml:
    """A GPU as NVML shows it."""

    def __init__(self, *reasons):
        self.current_clock_event_reasons = list(reasons)
        self.temperature = SimpleNamespace(get_sensor=lambda: 61)

    def get_clock(self, kind):
        return SimpleNamespace(get_current_mhz=lambda: {"sm": 1980, "memory": 3201}[kind])


def test_all_that_nvml_says_is_recorded():
    assert Conditions(lambda: Nvml("sw_power_cap")).now() == {
        "sm_mhz": 1980, "memory_mhz": 3201, "celsius": 61, "clock_event_reasons": ["sw_power_cap"]
    }  # fmt: skip


def test_a_value_that_a_driver_hides_is_left_out():
    nvml = Nvml()
    nvml.temperature.get_sensor = silent
    assert Conditions(lambda: nvml).now() == {"sm_mhz": 1980, "memory_mhz": 3201}


def test_without_nvml_nothing_is_said():
    assert Conditions(silent).now() == {}
    assert not Conditions(silent).slowed_down()


@pytest.mark.parametrize(
    ("reasons", "slowed"),
    [((), False), (("none",), False), (("gpu_idle", "sw_power_cap"), False), (("hw_slowdown",), True),
     (("sw_power_cap", "sw_thermal_slowdown"), True), (("hw_thermal_slowdown",), True),
     (("hw_power_brake_slowdown",), True)],
)  # fmt: skip
def test_heat_and_the_hardware_slow_down_and_a_power_cap_does_not(reasons, slowed):
    assert Conditions(lambda: Nvml(*reasons)).slowed_down() is slowed


def test_the_words_are_those_of_nvml():
    from autotune.devices import conditions

    assert set(conditions._SLOWDOWNS) <= {str(reason) for reason in system.typing.ClocksEventReasons}


def test_energy_is_told_in_joules():
    nvml = Nvml()
    nvml.get_field_values = lambda fields: SimpleNamespace(get_all_values=lambda: {83: [2500]}[int(fields[0])])
    assert Conditions(lambda: nvml).joules() == 2.5


def test_energy_that_a_driver_hides_is_not_known():
    nvml = Nvml()
    nvml.get_field_values = lambda fields: SimpleNamespace(get_all_values=silent)
    assert Conditions(lambda: nvml).joules() is None
    assert Conditions(silent).joules() is None
