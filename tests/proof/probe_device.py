"""A device whose process knows the proof's operator."""

from probe_operator import OPERATOR

from autotune.devices.base import Device
from autotune.devices.select import device
from autotune.search_spaces.contract.registry import OPERATORS


def device_with_probe(selector: str) -> Device:
    """`device`, in a process of its own."""
    OPERATORS[OPERATOR.name] = OPERATOR
    return device(selector)
