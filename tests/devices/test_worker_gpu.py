"""Kernels that harm a GPU's context, in a process of their own."""

import pytest
from scale import OPERATOR, ScaleProblem, scale

from autotune.codegen.model.schedule import Schedule
from autotune.compiler import compile_kernel
from autotune.db.states import Status
from autotune.devices.cuda import CudaDevice
from autotune.devices.worker_device import WorkerDevice
from autotune.search_spaces.contract.registry import OPERATORS

pytestmark = pytest.mark.gpu

PROBLEM = ScaleProblem()


def gpu():
    """What the worker makes; its operator is registered there, too."""
    OPERATORS["scale"] = OPERATOR
    return CudaDevice(0)


@pytest.fixture(scope="module")
def session():
    with WorkerDevice(gpu) as device, device.session(OPERATOR, PROBLEM, seed=1) as opened:
        yield opened


def evaluated(session, body="SCALE"):
    source = scale(PROBLEM, body)
    return session.evaluate(Schedule(), source, compile_kernel(source, CudaDevice(0).spec.arch))


def test_an_illegal_access_costs_one_kernel(session):
    crashed, good = evaluated(session, "SCALE *(float*)16 = 1;"), evaluated(session)
    assert crashed.status is Status.CRASHED
    assert crashed.error.startswith("CUDA_ERROR_ILLEGAL_ADDRESS")
    assert (good.status, good.error) == (Status.OK, "")


def test_a_kernel_without_end_costs_one_kernel(session):
    assert evaluated(session).status is Status.OK
    session.time_limit = 2.0
    hung = evaluated(session, "SCALE while (clock64() != 0) {}")
    assert (hung.status, hung.error) == (Status.TIMEOUT, "measuring did not end within 2 s")
    assert evaluated(session).status is Status.OK
