"""The primary context of a GPU, which a kernel that crashes destroys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autotune.search_spaces.machine.device_spec import DeviceSpec

from .base import DeviceError
from .conditions import Conditions

# cuda.core is imported by the first who has a GPU.
if TYPE_CHECKING:
    from cuda.core import Device as Handle


class CudaContext:
    """What sessions share of one GPU: its primary context, which other libraries of the process use too.

    Attributes:
        selector, spec: see `Device`.
        handle: cuda.core's object.
        conditions: in which state it measures.
    """

    def __init__(self, selector: str, handle: Handle, spec: DeviceSpec) -> None:
        self.selector = selector
        self.handle = handle
        self.spec = spec
        self.conditions = Conditions(handle.to_system_device)
        self._lost = False

    def check_usable(self) -> None:
        """Make sure that no kernel has destroyed the context.

        Raises:
            DeviceError: one did; CUDA offers no way back but a new process.
        """
        if self._lost:
            raise DeviceError(
                f"the CUDA context of device {self.selector} was lost to a kernel that crashed; "
                "run the same command again to continue"
            )

    def check_context(self) -> bool:
        """After an error: whether the context is lost. An error that a kernel caused stays for good."""
        from autotune.base.cuda_core import CUDAError

        try:
            self.handle.sync()
        except CUDAError:
            self._lost = True
        return self._lost
