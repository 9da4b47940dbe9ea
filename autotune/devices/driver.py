"""The CUDA driver: whether it is there, how new it is, which GPUs it sees, and what it says when it fails."""

from __future__ import annotations

from .base import DeviceError

_OLDEST = 13000  # CUDA 13.0, which driver r580 brought: older drivers cannot load what NVRTC 13 compiles
_REMEDY = "install an NVIDIA driver r580 or newer, or name an offline device such as h200"


def cuda_device_count() -> int:
    """The number of GPUs that the driver sees; 0 if there is no driver or it does not start."""
    from cuda.bindings import driver
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        (status,) = driver.cuInit(0)
        return 0 if status else int(driver.cuDeviceGetCount()[1])
    except DynamicLibNotFoundError:
        return 0


def check_device(ordinal: int) -> None:
    """Make sure that the driver is there, is new enough and sees this GPU.

    Raises:
        DeviceError: one line that says what is missing and names the remedy.
    """
    from cuda.bindings import driver
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        (status,) = driver.cuInit(0)
    except DynamicLibNotFoundError:
        raise DeviceError(f"no NVIDIA driver (libcuda.so.1) was found: {_REMEDY}") from None
    if status == driver.CUresult.CUDA_ERROR_NO_DEVICE:
        raise DeviceError(
            "the NVIDIA driver sees no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES, "
            "or name an offline device such as h200"
        )
    if status:
        raise DeviceError(f"the NVIDIA driver does not start ({status.name}): check nvidia-smi, or {_REMEDY}")
    version = int(driver.cuDriverGetVersion()[1])
    if version < _OLDEST:
        raise DeviceError(
            f"the NVIDIA driver supports CUDA {cuda_version(version)}, and CUDA {cuda_version(_OLDEST)} is needed: "
            f"{_REMEDY}"
        )
    count = cuda_device_count()
    if not 0 <= ordinal < count:
        from cuda.core import Device

        present = ", ".join(f"{i} ({Device(i).name})" for i in range(count))
        raise DeviceError(f"there is no CUDA device {ordinal}; there are: {present}")


def cuda_version(number: int) -> str:
    """The driver's number of a CUDA version as people write it: 13000 is ``13.0``."""
    return f"{number // 1000}.{number % 1000 // 10}"


def reason(error: Exception) -> str:
    """The first sentence of a CUDA error: its name and what it means."""
    return str(error).partition(". ")[0].rstrip(".")
