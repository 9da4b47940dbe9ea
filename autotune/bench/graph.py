"""Launches as CUDA graphs, so that no contender pays for what its library does on the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cuda.bindings import driver

from autotune.base.cuda_core import handle_return

from .baseline import Launcher


@contextmanager
def captured(stream: int, launch: Launcher) -> Iterator[Launcher]:
    """What replays all that `launch` queues on a stream, given as the address of its ``CUstream``.

    `launch` must have run before: libraries allocate, load and tune when they are called first.

    Raises:
        CUDAError: something that `launch` does cannot be captured.
    """
    handle_return(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
    try:
        launch()
    finally:
        graph = handle_return(driver.cuStreamEndCapture(stream))
    executable = handle_return(driver.cuGraphInstantiate(graph, 0))
    handle_return(driver.cuGraphDestroy(graph))

    def replay() -> None:
        handle_return(driver.cuGraphLaunch(executable, stream))

    try:
        yield replay
    finally:
        driver.cuGraphExecDestroy(executable)  # unchecked: a lost context has its own error already
