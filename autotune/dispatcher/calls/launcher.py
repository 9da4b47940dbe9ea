"""Launches with what calls bring, from any thread."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from autotune.dispatcher.targets.base import LaunchError

from .arguments import Arguments, Filler, Launch, Names, Template, Values
from .chosen import Chosen


class Loaded:
    """A choice whose kernel is loaded.

    Attributes:
        chosen: the choice, and what was loaded for it.
        template: its arguments.
        proven: whether the kernel was launched.
    """

    __slots__ = ("chosen", "proven", "template")

    def __init__(self, chosen: Chosen, template: Template) -> None:
        self.chosen = chosen
        self.template = template
        self.proven = False


class Served(Protocol):
    """A plan, as launchers know it.

    Attributes:
        loaded: the choice that serves.
        calls: how often it was launched.
    """

    loaded: Loaded
    calls: int

    def fall_back(self, loaded: Loaded, error: LaunchError) -> None:
        """Go on to the next choice; raise the error if there is no reason to."""

    def measure(self, stream: int, names: Names, values: Values) -> None:
        """Go on with what is fastest with these values."""


class _Bound(NamedTuple):
    """A loaded kernel, what fills in its arguments, and arguments that no thread uses at the moment."""

    loaded: Loaded
    fill: Filler
    free: list[Arguments]


class Launcher:
    """Launches the kernel of a plan with the values that calls of one form bring.

    Args:
        names: for each value, the kernel's argument that gets it; empty for none.
    """

    __slots__ = ("_bound", "_names", "_plan")

    def __init__(self, plan: Served, names: Names) -> None:
        self._plan = plan
        self._names = names
        self._bound = self._bind()

    def launch(self, stream: int, values: Values) -> None:
        """Launch on a stream. Threads may share a launcher.

        Raises:
            LaunchError: the default schedule's kernel was refused, or one that ran before.
        """
        loaded, fill, free = bound = self._bound
        # Taking and giving back are atomic, so that no lock is needed: two threads never fill the same arguments.
        try:
            arguments = free.pop()
        except IndexError:
            arguments = loaded.template.arguments()
        if arguments.values != values:  # which takes a third of the time that filling them in again does
            fill(arguments, values)
            arguments.values = values
        try:
            arguments.launch(stream)
        except LaunchError as error:
            self._fall_back(bound, error)
            self.launch(stream, values)
        else:
            self._plan.calls += 1
            loaded.proven = True
            free.append(arguments)

    def measure(self, stream: int, values: Values) -> None:
        """Let the plan measure its candidates with these values, and launch what is fastest from then on."""
        self._plan.measure(stream, self._names, values)
        self._bound = self._bind()

    def fixed(self, values: Values) -> Launch:
        """What launches with these values, each time on the stream that it is given.

        Raises:
            TypeError, ValueError: the kernel cannot take them.
        """
        self._filled(values)
        free: list[Arguments] = []

        def launch(stream: int) -> None:
            try:
                arguments = free.pop()
            except IndexError:
                self.launch(stream, values)
                free.append(self._filled(values))
            else:
                arguments.launch(stream)
                self._plan.calls += 1
                free.append(arguments)

        return launch

    def _filled(self, values: Values) -> Arguments:
        arguments = self._bound.loaded.template.arguments()
        self._bound.fill(arguments, values)
        return arguments

    def _bind(self) -> _Bound:
        loaded = self._plan.loaded
        return _Bound(loaded, loaded.template.filler(self._names), [])

    def _fall_back(self, bound: _Bound, error: LaunchError) -> None:
        if bound.loaded is self._plan.loaded:
            self._plan.fall_back(bound.loaded, error)
        self._bound = self._bind()
