"""What is made of NVML's answers, and of its silence. NVML itself is a stand-in."""

from types import SimpleNamespace

import pytest
from cuda.core import system

from autotune.devices.conditions import Conditions


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
