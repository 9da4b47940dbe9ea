import kernels
import pytest


@pytest.fixture
def kernel() -> kernels.Kernel:
    return kernels.build


@pytest.fixture
def run() -> kernels.Run:
    return kernels.execute
