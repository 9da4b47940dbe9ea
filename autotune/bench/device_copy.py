"""The baseline ``copy``: the driver's device-to-device copy of as many bytes, which no transpose can beat by much."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .baseline import Baseline, Launcher

if TYPE_CHECKING:
    from ..devices.cuda_session import CudaSession


@contextmanager
def _prepare(session: CudaSession) -> Iterator[Launcher]:
    from cuda.bindings import driver

    from ..cuda_core import handle_return

    source, target = session.pointer("a"), session.pointer("b")
    size = min(tensor.bytes for tensor in session.problem.tensors)

    def launch() -> None:
        handle_return(driver.cuMemcpyDtoDAsync(target, source, size, session.stream))

    yield launch


COPY = Baseline(
    summary="the driver's copy of as many bytes",
    computes=False,
    missing=lambda: "",
    versions=dict,
    prepare=_prepare,
)
