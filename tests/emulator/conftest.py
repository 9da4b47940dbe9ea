import kernels
import pytest


@pytest.fixture
def kernel():
    return kernels.build


@pytest.fixture
def run():
    return kernels.execute
