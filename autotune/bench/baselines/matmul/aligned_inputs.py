"""Inputs where cublasLt can read them: kernels take scales and biases that are aligned to their elements alone."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from cuda.bindings import driver

from autotune.base.cuda_core import handle_return
from autotune.bench.baselines.device_buffer import allocated

if TYPE_CHECKING:
    from autotune.devices.cuda_session import CudaSession

_ALIGNMENT = 16  # bytes


def aligned(session: CudaSession, name: str, stack: ExitStack) -> int:
    """The address of an input, or of a copy that begins at a multiple of 16 bytes and lasts as long as the stack."""
    pointer = session.pointer(name)
    if pointer % _ALIGNMENT == 0:
        return pointer
    (size,) = (tensor.bytes for tensor in session.problem.tensors if tensor.name == name)
    copy = allocated(stack, size)
    handle_return(driver.cuMemcpyDtoDAsync(copy, pointer, size, session.stream))
    return copy
