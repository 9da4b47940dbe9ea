"""Settings of every test."""

import pytest
from hypothesis import settings

from autotune.devices.driver import cuda_device_count

# A busy machine is slow, which is no failure; and a failure must come again when the test is run again.
settings.register_profile("autotune", deadline=None, derandomize=True)
settings.load_profile("autotune")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where there is none."""
    for item in items:
        if item.get_closest_marker("gpu") and not cuda_device_count():
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))
