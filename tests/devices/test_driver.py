"""What is said about a driver that is missing, broken or old, by stand-ins for the driver's functions."""

from collections.abc import Callable
from types import SimpleNamespace

import cuda.core
import pytest
from cuda.bindings import driver
from cuda.pathfinder import DynamicLibNotFoundError

from autotune.devices.base import DeviceError
from autotune.devices.driver import check_device, cuda_device_count, cuda_version, reason

SUCCESS = driver.CUresult.CUDA_SUCCESS


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def install(
        status: driver.CUresult = SUCCESS, version: int = 13000, names: tuple[str, ...] = ("NVIDIA H200", "NVIDIA T4")
    ) -> None:
        monkeypatch.setattr(driver, "cuInit", lambda _: (status,))
        monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: (SUCCESS, version))
        monkeypatch.setattr(driver, "cuDeviceGetCount", lambda: (SUCCESS, len(names)))
        monkeypatch.setattr(cuda.core, "Device", lambda ordinal: SimpleNamespace(name=names[ordinal]))

    return install


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: int) -> None:
        raise DynamicLibNotFoundError('"cuda" is an NVIDIA driver library\nand was not found')

    monkeypatch.setattr(driver, "cuInit", absent)


def complaint(ordinal: int = 0) -> str:
    with pytest.raises(DeviceError) as caught:
        check_device(ordinal)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_devices_of_a_good_driver(fake: Callable[..., None]) -> None:
    fake()
    check_device(0)
    check_device(1)
    assert cuda_device_count() == 2


@pytest.mark.usefixtures("no_driver")
def test_no_driver() -> None:
    assert cuda_device_count() == 0
    assert complaint().startswith("no NVIDIA driver (libcuda.so.1) was found: install an NVIDIA driver r580 or newer")


def test_no_gpu(fake: Callable[..., None]) -> None:
    fake(driver.CUresult.CUDA_ERROR_NO_DEVICE)
    assert cuda_device_count() == 0
    assert complaint().startswith("the NVIDIA driver sees no GPU")


def test_a_driver_that_does_not_start(fake: Callable[..., None]) -> None:
    fake(driver.CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
    assert cuda_device_count() == 0
    assert "does not start (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)" in complaint()


def test_an_old_driver(fake: Callable[..., None]) -> None:
    fake(version=12080)
    assert complaint().startswith("the NVIDIA driver supports CUDA 12.8, and CUDA 13.0 is needed: install")
    assert "r580" in complaint()


@pytest.mark.parametrize("ordinal", [2, -1])
def test_an_ordinal_that_is_not_there(ordinal: int, fake: Callable[..., None]) -> None:
    fake()
    assert complaint(ordinal) == f"there is no CUDA device {ordinal}; there are: 0 (NVIDIA H200), 1 (NVIDIA T4)"


def test_versions_as_people_write_them() -> None:
    assert [cuda_version(number) for number in (12080, 13000, 13010)] == ["12.8", "13.0", "13.1"]


def test_the_reason_of_an_error_is_its_first_sentence() -> None:
    error = RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS: While executing, an invalid address. This leaves the process.")
    assert reason(error) == "CUDA_ERROR_ILLEGAL_ADDRESS: While executing, an invalid address"
