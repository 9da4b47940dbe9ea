"""All experiments of a calibration, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from autotune.devices.base import DeviceError
from autotune.search_spaces.machine.calibration import Calibration, Curve, Figure, Point

from .arithmetic import multiply_add, tensor_cores
from .bandwidth import l2_bandwidth, memory_bandwidth, shared_bandwidth
from .experiment import Found
from .instrument import GpuInstrument, Instrument
from .latency import in_flight, latency
from .launches import launches
from .patterns import alignment, scattered, stride

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autotune.devices.cuda import CudaDevice

EXPERIMENTS: Mapping[str, Callable[[Instrument], Found]] = {
    "memory bandwidth": memory_bandwidth,
    "stride": stride,
    "alignment": alignment,
    "scattered pieces": scattered,
    "L2 bandwidth": l2_bandwidth,
    "shared memory": shared_bandwidth,
    "latency": latency,
    "bytes in flight": in_flight,
    "FP32": multiply_add,
    "tensor cores": tensor_cores,
    "launches": launches,
}


def calibrate(device: CudaDevice, show: Callable[[str], None] = lambda _name: None) -> Calibration:
    """Measure a GPU: about half a minute.

    Args:
        device: the GPU; nothing else should run on it meanwhile.
        show: is called with the name of each experiment that begins.

    Raises:
        DeviceError: a kernel of the calibration is wrong, or CUDA failed; the message says of which experiment.
    """
    figures: dict[Figure, float] = {}
    curves: dict[Curve, Sequence[Point]] = {}
    conditions: dict[str, Mapping[str, Any]] = {}
    with _blamed("setting up"), GpuInstrument(device) as instrument:
        for name, experiment in EXPERIMENTS.items():
            show(name)
            with _blamed(name):
                found = experiment(instrument)
            figures |= found.figures
            curves |= found.curves
            conditions[name] = device.conditions.now()
    return Calibration(device.spec.name, figures, curves, device.environment, conditions)


@contextmanager
def _blamed(name: str) -> Iterator[None]:
    """An error of CUDA inside becomes a `DeviceError` of one line."""
    from autotune.base.cuda_core import CUDAError
    from autotune.devices.driver import reason

    try:
        yield
    except CUDAError as error:
        raise DeviceError(f"calibration, {name}: {reason(error)}") from error
