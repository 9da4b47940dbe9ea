"""The CUDA context in which the dispatcher works: the primary one, which all libraries of the process share."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from cuda.bindings import driver

from autotune.base.cuda_core import handle_return


class Context:
    """A GPU's primary context; a context manager that makes it current in this thread for a while."""

    def __init__(self, ordinal: int) -> None:
        device = handle_return(driver.cuDeviceGet(ordinal))
        self._context = handle_return(driver.cuDevicePrimaryCtxRetain(device))
        self.handle = int(self._context)

    @property
    def current(self) -> bool:
        """Whether it is current in this thread, as it is in most: asking takes less than making it so."""
        return int(driver.cuCtxGetCurrent()[1]) == self.handle

    def made_current(self) -> AbstractContextManager[None]:
        """Makes it current unless it is."""
        return nullcontext() if self.current else self

    def __enter__(self) -> None:
        handle_return(driver.cuCtxPushCurrent(self._context))

    def __exit__(self, *_exception: object) -> None:
        handle_return(driver.cuCtxPopCurrent())
