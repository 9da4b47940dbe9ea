"""What a baseline is: one way to do an operator's work that users would call instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autotune.devices.cuda_session import CudaSession

Launcher = Callable[[], None]  # launches once, on the session's stream


@dataclass(frozen=True)
class BaselineRun:
    """What a baseline does to a session's buffers.

    Attributes:
        launch: does the work once; this is timed.
        deliver: copies what it left elsewhere to the problem's outputs, to be verified; None if nothing lies elsewhere.
    """

    launch: Launcher
    deliver: Launcher | None = None

    def verifiable(self, launch: Launcher) -> Launcher:
        """`launch`, which is `self.launch` or a replay of it, after which all outputs are in place."""
        deliver = self.deliver
        if deliver is None:
            return launch

        def both() -> None:
            launch()
            deliver()

        return both


@dataclass(frozen=True)
class Baseline:
    """One way to do an operator's work.

    Attributes:
        summary: one line for people.
        verified: whether its outputs are compared with the problem's.
        replayed: whether it is sampled as a CUDA graph; else it is called, and its time on the host counts.
        missing: what this machine lacks for it, in one line that names the remedy; empty if nothing.
        versions: the libraries that it rests on.
        prepare: what does it on the session's buffers and stream, as long as the context lasts.
    """

    summary: str
    verified: bool
    replayed: bool
    missing: Callable[[], str]
    versions: Callable[[], Mapping[str, str]]
    prepare: Callable[[CudaSession], AbstractContextManager[BaselineRun]]
