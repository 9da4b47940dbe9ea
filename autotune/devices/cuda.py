"""A CUDA GPU: its `DeviceSpec` as the driver gives it, its provenance, its sessions."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.compiler import compiler_version
from autotune.db.states import TimeSource
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import capability_limits, model_rates, named_device, named_devices

from .base import DeviceError
from .cuda_context import CudaContext
from .driver import check_device, cuda_version
from .energy import Meter

# cuda.core and what is built on it are imported by the first who has a GPU.
if TYPE_CHECKING:
    from cuda.core import Device as Handle
    from optuna.pruners import BasePruner

    from .cuda_session import CudaSession


class CudaDevice(CudaContext):
    """One GPU by its ordinal.

    Args:
        ordinal: of the GPU.
        pruner: says which kernels are not worth more samples; by default `SlowerPruner`.
        energy: whether sessions measure the energy of each kernel, too.

    Attributes:
        time_source, environment: see `Device`.

    Raises:
        DeviceError: no driver, an old one, no such GPU, one of an unknown compute capability, or one whose energy is
            asked for and not told by NVML.
    """

    time_source = TimeSource.MEASURED

    def __init__(self, ordinal: int, pruner: BasePruner | None = None, *, energy: bool = False) -> None:
        check_device(ordinal)
        from cuda.core import Device as Handle

        handle = Handle(ordinal)
        handle.set_current()
        super().__init__(str(ordinal), handle, driver_spec(handle.name, handle.properties))
        self.environment: Mapping[str, str] = _environment(handle)
        self._pruner = pruner
        self._meter = Meter(self.conditions.joules) if energy else None
        if energy and self.conditions.joules() is None:
            raise DeviceError(f"NVML does not tell the energy of device {ordinal}, {self.spec.name}")

    def session(self, operator: Operator[Any, Any], problem: Problem, seed: int) -> CudaSession:
        """Set up a problem with random inputs made from `seed`.

        Raises:
            DeviceError: the problem does not fit into device memory, or the context was lost.
        """
        from .cuda_session import CudaSession

        return CudaSession(self, operator, problem, seed, self._pruner, self._meter)


def driver_spec(name: str, properties: Any) -> DeviceSpec:
    """The `DeviceSpec` of a GPU from cuda.core's ``Device.properties``.

    What the driver does not tell follows from the compute capability: allocation units and rates.

    Raises:
        DeviceError: an unknown compute capability.
    """
    capability = (properties.compute_capability_major, properties.compute_capability_minor)
    try:
        shared = capability_limits(capability) | {"rates": model_rates(name, capability)}
    except ValueError as error:
        raise DeviceError(f"{name}: {error}") from None
    return DeviceSpec(
        name=name,
        compute_capability=capability,
        sm_count=properties.multiprocessor_count,
        l2_bytes=properties.l2_cache_size,
        clock_hz=properties.clock_rate * 1e3,
        bandwidth=_bandwidth(name, properties),
        **shared
        | {
            "threads_per_block": properties.max_threads_per_block,
            "threads_per_sm": properties.max_threads_per_multiprocessor,
            "blocks_per_sm": properties.max_blocks_per_multiprocessor,
            "registers_per_block": properties.max_registers_per_block,
            "registers_per_sm": properties.max_registers_per_multiprocessor,
            "shared_per_block": properties.max_shared_memory_per_block_optin,
            "shared_per_sm": properties.max_shared_memory_per_multiprocessor,
            "shared_reserved": properties.reserved_shared_memory_per_block,
        },
    )


def _bandwidth(name: str, properties: Any) -> float:
    """Two transfers per memory clock over the whole bus; for a driver that hides these, the datasheet's figure."""
    bandwidth: float = 2 * properties.memory_clock_rate * 1e3 * properties.global_memory_bus_width / 8
    if bandwidth:
        return bandwidth
    models = {spec.name: spec for spec in map(named_device, named_devices())}
    if name not in models:
        raise DeviceError(f"{name}: the driver does not report its memory bandwidth, and no device file has it")
    return models[name].bandwidth


def _driver_version() -> str:
    from cuda.core import system

    try:
        return ".".join(map(str, system.get_kernel_mode_driver_version()))
    except (RuntimeError, system.NvmlError):
        return "unknown"  # a container may have the driver without its management library


def _environment(handle: Handle) -> dict[str, str]:
    from cuda.bindings import driver

    return {
        "device": handle.name,
        "uuid": handle.uuid,
        "driver": _driver_version(),
        "cuda": cuda_version(int(driver.cuDriverGetVersion()[1])),
        "compiler": compiler_version(),
        "cuda-core": version("cuda-core"),
    }
