"""Device memory of a baseline's own."""

from __future__ import annotations

from contextlib import ExitStack


def allocated(stack: ExitStack, size: int) -> int:
    """The address of a new buffer in device memory, which lasts as long as the stack."""
    from cuda.bindings import driver

    from autotune.base.cuda_core import handle_return

    address = int(handle_return(driver.cuMemAlloc(size)))
    stack.callback(driver.cuMemFree, address)
    return address
