"""The functions that users call, derived from what operators state."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from inspect import cleandoc
from typing import Any
from weakref import WeakSet

from autotune.dispatcher.arrays import arrays
from autotune.dispatcher.settings import indices_are_checked
from autotune.search_spaces.contract.call import OUT, Call
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator

from .arguments import Values, is_nonnegative, sequence
from .checks import check_apart, moved, same_layout
from .fast_path import Memory, Recognised, allocator, comparison, nothing, recording
from .ready_call import Arrays, ReadyCall
from .resolve import Case, Resolver
from .source import UNALIGNED, arguments_source, function_source

_MODULE = __name__.rpartition(".calls")[0]
_ALL_CALLS = """

All arrays are on one device. NumPy arrays, and PyTorch tensors on the CPU, are computed by the emulator, all others on
their GPU. The outputs are ready when the stream gets there.

`stream` is a handle, or an object with ``__cuda_stream__``. By default it is the current stream of the first array's
library.

Raises:
    TypeError, ValueError: one line that says what is wrong with the arguments; nothing was launched.
    CaptureError: the stream is being captured, and there is no kernel yet.
    DeviceError: there is no usable driver.
    CompileError, LaunchError: the default schedule's kernel was refused, too.
"""


class Dispatched:
    """The calls of one operator.

    Args:
        stated, call: the operator, and what it states.
        channels_first: arrays of which callers give, and get, the last axis as their second one. They are PyTorch's: to
            make a view of each takes the host longer than to launch.

    Attributes:
        call: what the operator states.
        function: what users call.
        arguments: takes the same arguments, and returns those of `prepare`.
    """

    def __init__(self, stated: Operator[Any, Any], call: Call, channels_first: tuple[str, ...] = ()) -> None:
        self.call = call
        self._channels_first = frozenset(channels_first)
        _all.add(self)
        self._resolver = Resolver(stated, call)
        self._given, self._fresh = Memory(), Memory()  # calls with outputs, and calls that allocate them
        self.function = self._made(function_source(call))
        self.arguments = self._made(arguments_source(call))

    def clear(self) -> None:
        """Forget all calls, and so their plans."""
        self._resolver.clear()
        self._given.clear()
        self._fresh.clear()

    def launch(self, stream: Any, inputs: Arrays, outputs: Arrays, case: Case, scalars: Values) -> Any:
        """Make a call, and return its required outputs; see `Resolver.prepare`."""
        prepared = self.prepare(stream, inputs, outputs, case, scalars)
        prepared.launch()
        return self.returned(prepared)

    def prepare(self, stream: Any, inputs: Arrays, outputs: Arrays, case: Case, scalars: Values) -> ReadyCall:
        """Do all of a call but its launch; see `Resolver.prepare`."""
        read, written = self._moved(self.call.inputs, inputs, 1, -1), self._moved(self.call.outputs, outputs, 1, -1)
        prepared = self._resolver.prepare(stream, read, written, case, scalars)
        prepared = prepared._replace(outputs=self._moved(self.call.outputs, prepared.outputs, -1, 1))
        if indices_are_checked():
            prepared.resolved.check_indices(dict(zip(self.call.inputs, inputs, strict=True)))
            return prepared  # and forgotten, so that the next call is checked, too
        addresses = prepared.values[: len(self.call.arrays)]
        if not self.call.lists and not any(int(address) & UNALIGNED for address in addresses):
            self._remember(prepared, inputs, outputs, case)
        return prepared

    def returned(self, prepared: ReadyCall) -> Any:
        """What a call returns: the required output, a tuple of them, or None of a call that only updates."""
        outputs = dict(zip(self.call.outputs, prepared.outputs, strict=True))
        required = tuple(outputs[name] for name in self.call.required_outputs)
        return required[0] if len(required) == 1 else required or None

    def _moved(self, names: tuple[str, ...], arrays: Arrays, source: int, to: int) -> Arrays:
        """The arrays of these names, with an axis of those in `channels_first` moved."""
        if self._channels_first.isdisjoint(names):
            return arrays
        return tuple(
            array.movedim(source, to) if name in self._channels_first and array is not None else array
            for name, array in zip(names, arrays, strict=True)
        )

    def _remember(self, prepared: ReadyCall, inputs: Arrays, outputs: Arrays, case: Case) -> None:
        """Keep a call for the fast path."""
        call = self.call
        given = dict(zip(call.outputs, outputs, strict=True))
        absent = {given[name] is None for name in call.required_outputs}
        tensors = [*(array for array in inputs if array is not None), *self._apart(inputs, outputs)]
        alike = comparison(tensors)
        if alike is None or len(absent) > 1:
            return
        views, launcher = prepared.resolved.views, prepared.resolved.launcher
        new = dict(zip(call.outputs, prepared.outputs, strict=True))
        fresh = {*call.required_outputs} if True in absent else set[str]()
        meeting = any({*pair} <= {*views} - fresh for pair in call.apart)
        extents = tuple(views[name].layout.extent if name in views else 0 for name in call.arrays)
        recognised = Recognised(
            case=case,
            alike=alike,
            recorded=recording(tensors),
            extents=extents if meeting else (),
            in_place=all(
                name in views and other in views and same_layout(views[name], views[other])
                for name, other in call.in_place
            ),
            check_apart=lambda addresses: check_apart(call, moved(call.arrays, views, addresses)),
            current=arrays.stream_of(inputs[0]),
            launch=launcher.launch if launcher else nothing,
            allocate=allocator([new[name] for name in call.required_outputs]) if fresh else nothing,
        )
        (self._fresh if fresh else self._given).remember(recognised, tensors)

    def _apart(self, inputs: Arrays, outputs: Arrays) -> list[Any]:
        """The outputs that are given and are no input."""
        named = dict(zip(self.call.arrays, (*inputs, *outputs), strict=True))
        same = [output for output, operand in self.call.in_place if named[output] is named[operand]]
        return [named[name] for name in self.call.outputs if named[name] is not None and name not in same]

    def _not_a_tuple(self, out: Any) -> TypeError:
        expected = f"expected a tuple of {len(self.call.outputs)}: {', '.join(self.call.outputs)}"
        given = f"a tuple of {len(out)}" if isinstance(out, tuple) else f"a {type(out).__name__}"
        return TypeError(f"{OUT} is {given}: {expected}")

    def _made(self, source: str) -> Callable[..., Any]:
        """The function of a source, with the signature and the documentation that users see."""
        call = self.call
        scope: dict[str, Any] = {
            "_defaults": {name: parameter.default for name, parameter in call.signature.parameters.items()},
            "_given": self._given,
            "_fresh": self._fresh,
            "_launch": self.launch,
            "_not_a_tuple": self._not_a_tuple,
            "_sequence": sequence,
            "_nonnegative": is_nonnegative,
            "_handle": arrays.stream_handle,
        }
        exec(source, scope)
        function: Any = scope[call.name]
        function.__signature__ = call.signature
        function.__doc__ = cleandoc(call.declaration.__doc__ or "") + _ALL_CALLS
        function.__module__ = _MODULE
        made: Callable[..., Any] = function
        return made


_all: WeakSet[Dispatched] = WeakSet()  # also of operators that are forgotten, whose functions programs may hold
_dispatched: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Dispatched] = {}


def dispatched(name: str, computed: tuple[str, ...] = (), channels_first: tuple[str, ...] = ()) -> Dispatched:
    """The calls of an operator.

    Args:
        name: of the operator.
        computed: optional outputs that these calls always compute, allocate and return, as if they were required.
        channels_first: see `Dispatched`.

    Raises:
        ValueError: there is no such operator, or users cannot call it.
    """
    found = _dispatched.get((name, computed, channels_first))
    if found is None:
        stated = operator(name)
        if stated.call is None:
            raise ValueError(f"{name} has no call")
        optional = tuple(one for one in stated.call.optional if one not in computed)
        made = Dispatched(stated, replace(stated.call, optional=optional), channels_first)
        found = _dispatched.setdefault((name, computed, channels_first), made)
    return found


def forget(name: str) -> None:
    """Forget the calls of an operator that is another one from now on."""
    for own in [one for one in _dispatched if one[0] == name]:
        del _dispatched[own]


def clear() -> None:
    """Forget all calls of all functions that are in use."""
    for one in list(_all):
        one.clear()


os.register_at_fork(after_in_child=clear)  # plans are the parent's
