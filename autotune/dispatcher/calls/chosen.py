"""What was chosen for each problem of this process, for whoever listens."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from autotune.codegen.model.problem import Problem
from autotune.dispatcher.choice.choose import Choice


@dataclass(frozen=True)
class Chosen:
    """What serves a problem in this process.

    Attributes:
        operator, problem: what is computed, as the kernel's operator states it.
        device: the model of the device.
        choice: the schedule, and by which rule.
        program: the digest of the program; empty if a library serves.
        cubins: SHA-256 of the machine code of each of its modules; empty if the emulator or a library serves.
        compiled: whether the call had to compile.
    """

    operator: str
    problem: Problem
    device: str
    choice: Choice
    program: str
    cubins: tuple[str, ...]
    compiled: bool

    @property
    def statement(self) -> str:
        """What runs, as one line of JSON: the same where the same machine code computes the same problem."""
        what = self.choice.baseline or self.program
        return json.dumps([self.operator, self.problem.to_dict(), what, self.cubins], sort_keys=True)

    def __str__(self) -> str:
        compiled = ", compiled" if self.compiled else ""
        return (
            f"{self.operator} {self.problem.key} on {self.device}: {self.choice.rule}, {self.choice.origin}{compiled}"
        )


Listener = Callable[[Chosen], None]

_listeners: list[Listener] = []


def on_choice(callback: Listener) -> Callable[[], None]:
    """Call a function with each `Chosen` from now on: for each problem that this process computes for the first time.

    It is called again if a device refuses to launch what was chosen, and the next choice serves. What it raises, the
    call raises.

        stop = dispatcher.on_choice(print)

    Returns:
        What ends it.
    """
    _listeners.append(callback)

    def stop() -> None:
        if callback in _listeners:
            _listeners.remove(callback)

    return stop


def tell(chosen: Chosen) -> None:
    """Tell all who listen."""
    for listener in tuple(_listeners):
        listener(chosen)
