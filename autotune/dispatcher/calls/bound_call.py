"""Calls that are bound to their arrays, for programs that make the same one again and again."""

from __future__ import annotations

from typing import Any

from autotune.dispatcher.arrays import arrays
from autotune.dispatcher.choice.choose import Choice

from .arguments import Launch
from .function import dispatched


class BoundCall:
    """A call with its arrays.

    Attributes:
        out: what the call returns: the output, a tuple of them, or None.
    """

    __slots__ = ("_arrays", "_current", "_launch", "_plan", "_stream", "out")

    def __init__(self, operator: str, operands: tuple[Any, ...], stream: Any, options: dict[str, Any]) -> None:
        calls = dispatched(operator)
        arguments = calls.arguments(*operands, stream=stream, **options)
        prepared = calls.prepare(*arguments)
        self.out = calls.returned(prepared)
        for kind in {*map(type, arrays.each(prepared.outputs))} & arrays.IMMUTABLE:
            raise ValueError(f"a plan writes to its output repeatedly, but a {kind.__name__} is immutable")
        self._arrays = operands, options  # whose memory must stay as long as this may be called
        self._stream = 0 if stream is None else prepared.stream
        self._current = arrays.stream_of(next(arrays.each(arguments[1])))
        self._plan = prepared.resolved.plan
        launcher = prepared.resolved.launcher
        self._launch: Launch | None = launcher.fixed(prepared.values) if launcher else None

    @property
    def choice(self) -> Choice | None:
        """The schedule that serves, and why; None if there is nothing to compute."""
        return self._plan.choice if self._plan else None

    def __call__(self) -> Any:
        """Compute with what the arrays hold now, into the same output, which is returned."""
        if self._launch is not None:
            self._launch(self._stream or self._current() or arrays.LEGACY_DEFAULT_STREAM)
        return self.out


def plan(operator: str, *operands: Any, stream: Any = None, **options: Any) -> BoundCall:
    """Make the call ``operator(*operands, **options)`` ready: compiled, loaded, its arguments packed.

    What it returns launches and does nothing else: arrays are not looked at again. They are taken to be ready on the
    stream, which is the current one of their library at each call unless it is named here. Threads may share it.

        step = dispatcher.plan("sgemm", a, b, out=c, alpha=0.5)
        step()

    Args:
        operator: such as ``sgemm``.
        operands, stream, options: as for the function of this name.

    Raises:
        TypeError, ValueError, CaptureError, DeviceError, CompileError, LaunchError: as for that function.
        ValueError: arrays of a library that forbids to write to them, such as JAX.
    """
    return BoundCall(operator, operands, stream, options)
