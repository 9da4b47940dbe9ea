"""The baseline ``copy``: the driver's copy within device memory of as many bytes as a problem must move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from autotune.bench.baseline import Baseline, BaselineRun
from autotune.codegen.model.tensor import Role

from .device_buffer import allocated

if TYPE_CHECKING:
    from autotune.devices.cuda_session import CudaSession


@contextmanager
def _prepare(session: CudaSession) -> Iterator[BaselineRun]:
    """Half of the bytes are read, as many are written, in buffers of their own that are filled with the inputs."""
    from cuda.bindings import driver

    from autotune.base.cuda_core import handle_return

    size = max(1, session.problem.work.bytes // 2)
    with ExitStack() as stack:
        source, target = (allocated(stack, size) for _ in range(2))
        for begin, end, origin in filling(session, source, size):
            handle_return(driver.cuMemcpyDtoDAsync(begin, origin, end - begin, session.stream))

        def launch() -> None:
            handle_return(driver.cuMemcpyDtoDAsync(target, source, size, session.stream))

        yield BaselineRun(launch)


def filling(session: CudaSession, buffer: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Copies that fill a buffer with a problem's largest input, again and again: from, up to, and what is copied."""
    inputs = [tensor for tensor in session.problem.tensors if tensor.role is not Role.OUTPUT and tensor.bytes]
    if not inputs:
        return
    largest = max(inputs, key=lambda tensor: tensor.bytes)
    done = min(size, largest.bytes)
    yield buffer, buffer + done, session.pointer(largest.name)
    while done < size:
        more = min(size - done, done)
        yield buffer + done, buffer + done + more, buffer
        done += more


COPY = Baseline(
    summary="the driver's copy of as many bytes",
    verified=False,
    replayed=False,  # as a node of a graph it ran at two thirds of its rate on an H200
    missing=lambda: "",
    versions=dict,
    prepare=_prepare,
)
