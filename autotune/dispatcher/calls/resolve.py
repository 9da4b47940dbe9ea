"""What a call comes to: from arrays and options to a problem, its plan and the values of a launch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.tensor import row_major
from autotune.dispatcher.arrays import arrays
from autotune.dispatcher.arrays.views import View
from autotune.dispatcher.targets.factory import target
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.operator import Operator

from .arguments import Values, check_scalars
from .checks import check_alignment, check_apart, check_views, moved
from .launcher import Launcher
from .plan import Plan, plan_for

T = TypeVar("T")

_LAYOUTS_KEPT = 4096

Arrays = tuple[Any, ...]  # None for one that is left out
Case = tuple[Any, ...]  # what beside its arrays' layouts tells a call from others; see `Resolver`


@dataclass(frozen=True, slots=True)
class Resolved:
    """What is known of a call with arrays of these layouts, wherever they are.

    Attributes:
        views: by name, the arrays of the first such call; their pointers mean nothing for the next one.
        plan, launcher: None where nothing is to be computed.
    """

    views: Mapping[str, View]
    plan: Plan | None
    launcher: Launcher | None


class ReadyCall(NamedTuple):
    """A call that only has to be launched.

    Attributes:
        resolved: what is known of its layouts.
        stream: the handle of the stream.
        values: the addresses of all arrays, 0 for one that is left out; then the scalars.
        outputs: in the order of `Call.outputs`.
        measurable: whether the plan is to measure candidates, and another launch finds what it reads as this one does.
    """

    resolved: Resolved
    stream: int
    values: Values
    outputs: Arrays
    measurable: bool

    def launch(self) -> None:
        """Launch; of immutable arrays, wait for the result."""
        launcher = self.resolved.launcher
        if launcher is not None:
            if self.measurable:
                launcher.measure(self.stream, self.values)
            launcher.launch(self.stream, self.values)
            if not arrays.IMMUTABLE.isdisjoint(map(type, self.outputs)):
                target(next(iter(self.resolved.views.values())).device).synchronize(self.stream)


class Resolver:
    """Resolves the calls of one operator, and remembers what does not depend on addresses.

    The `case` of a call is a tuple: the options in the order of `Call.options`, then anything else, and at last whether
    each of `Call.all_switches` is not 0.
    """

    def __init__(self, operator: Operator[Any, Any], call: Call) -> None:
        self._operator, self._call = operator, call
        self._types: dict[Hashable, Mapping[str, ArrayType]] = {}
        self._resolved: dict[Hashable, Resolved] = {}

    def clear(self) -> None:
        """Forget all calls, and so their plans."""
        self._types.clear()
        self._resolved.clear()

    def prepare(self, stream: Any, inputs: Arrays, outputs: Arrays, case: Case, scalars: Values) -> ReadyCall:
        """Do all of a call but its launch.

        Args:
            stream: a handle, an object with ``__cuda_stream__``, or None for the current one of the first input.
            inputs, outputs: in the order of the `Call`'s; required outputs that are left out are allocated.
            case: see `Resolver`.
            scalars: in the order of the `Call`'s.

        Raises:
            TypeError, ValueError: one line that says what is wrong with the arguments.
            CaptureError, CompileError, LaunchError, DeviceError: see `plan_for`.
        """
        call = self._call
        check_scalars(call.scalars, scalars)
        case = tuple(map(plain_option, case))
        handle = arrays.stream_handle(stream, inputs[0])
        read = [self._fingerprint(name, array, handle) for name, array in zip(call.inputs, inputs, strict=True)]
        key = (case, *(kind for _, kind in read))
        outputs = self._allocated(key, handle, inputs, outputs, case, scalars)
        read += [self._fingerprint(name, array, handle) for name, array in zip(call.outputs, outputs, strict=True)]
        key = (case, *(kind for _, kind in read))
        at = tuple(pointer for pointer, _ in read)
        resolved = self._resolved.get(key)
        if resolved is None:
            resolved = _kept(self._resolved, key, partial(self._resolve, handle, (*inputs, *outputs), case))
        else:
            check_apart(call, moved(call, resolved.views, at))
        measurable = resolved.plan is not None and resolved.plan.unmeasured and self._repeatable(at, case)
        return ReadyCall(resolved, handle, (*at, *scalars), outputs, measurable)

    def _repeatable(self, at: Sequence[int], case: Case) -> bool:
        """Whether no array is read and written."""
        call = self._call
        read, written = at[: len(call.inputs)], at[len(call.inputs) :]
        return not (call.updates or (call.accumulates and case[-1]) or {*read} & {*written} - {0})

    def types(self, inputs: Mapping[str, Layout | None], case: Case) -> Mapping[str, ArrayType]:
        """Shapes and dtypes of all outputs.

        Raises:
            TypeError, ValueError: there is no such call.
        """
        return self._call.types(**inputs, **dict(zip(self._call.options, case, strict=False)))

    def _fingerprint(self, name: str, array: Any, handle: int) -> tuple[int, Hashable]:
        left_out = array is None and name in self._call.optional
        return (0, None) if left_out else arrays.fingerprint(name, array, handle)

    def _allocated(
        self, key: Hashable, handle: int, inputs: Arrays, outputs: Arrays, case: Case, scalars: Values
    ) -> Arrays:
        """The outputs, with new ones for those that are required and left out."""
        call = self._call
        given = dict(zip(call.outputs, outputs, strict=True))
        named = dict(zip(call.inputs, inputs, strict=True))
        for name, array in (given | {name: named[name] for name in call.updates}).items():
            if array is not None and arrays.immutable(array):
                right = "pass one of another" if name in call.updates else f"omit {name}="
                raise ValueError(
                    f"{name} is a {type(array).__name__}, and arrays of its library are immutable: {right}"
                )
        missing = [name for name in call.required_outputs if given[name] is None]
        if not missing:
            return outputs
        if call.accumulates and case[-1]:
            factor, out = call.accumulates, missing[0]
            value = scalars[call.scalars.index(factor)]
            raise ValueError(f"{factor}={value} scales the contents of {out}: pass {out}=, or {factor}=0")
        types = self._types.get(key) or _kept(
            self._types, key, partial(self._read_types, handle, inputs, outputs, case)
        )
        given |= {name: arrays.empty(*types[name], inputs[0]) for name in missing}
        return tuple(given.values())

    def _read_types(self, handle: int, inputs: Arrays, outputs: Arrays, case: Case) -> Mapping[str, ArrayType]:
        """Shapes and dtypes of all outputs, of inputs that state a problem: nothing is allocated for others."""
        named = zip(self._call.inputs, inputs, strict=True)
        views = {name: arrays.read(name, array, handle) for name, array in named if array is not None}
        for name, view in views.items():
            check_alignment(name, view)
        layouts = {name: views[name].layout if name in views else None for name in self._call.inputs}
        types = self.types(layouts, case)
        bytes_of = {layout.dtype: layout.itemsize for layout in layouts.values() if layout}
        new: dict[str, Layout | None] = dict.fromkeys(self._call.outputs)
        for name, output in zip(self._call.outputs, outputs, strict=True):
            if output is None and name in self._call.optional:
                continue
            shape, dtype = types[name]
            size = bytes_of.get(dtype) or DType(dtype).bytes
            new[name] = Layout(shape, row_major(shape), dtype, size, WIDEST_ACCESS)  # new arrays are aligned
        self._bound(layouts | new, case)
        return types

    def _bound(self, layouts: Mapping[str, Layout | None], case: Case) -> Binding:
        """What `Call.bind` says of arrays of these layouts."""
        call = self._call
        options = dict(zip(call.options, case, strict=False))
        nonzero = case[len(case) - len(call.all_switches) :]
        options |= {f"{name}_nonzero": one for name, one in zip(call.all_switches, nonzero, strict=True)}
        return call.bind(**layouts, **options)

    def _resolve(self, handle: int, everything: Arrays, case: Case) -> Resolved:
        """Check the arrays, and get the plan of the problem that they state."""
        call = self._call
        named = zip(call.arrays, everything, strict=True)
        views = {name: arrays.read(name, array, handle) for name, array in named if array is not None}
        layouts = {name: views[name].layout if name in views else None for name in call.arrays}
        types = self.types({name: layouts[name] for name in call.inputs}, case)
        check_views(call, views, types)
        problem, pointers = self._bound(layouts, case)
        check_apart(call, views)
        written = [views[name] for name in call.required_written]
        if all(0 in view.layout.shape for view in written):
            return Resolved(views, None, None)
        plan = plan_for(self._operator, problem, written[0].device, handle)
        names = (*(pointers.get(name, name) for name in call.arrays), *call.scalars)
        return Resolved(views, plan, plan.launcher(names))


def plain_option(option: Any) -> Any:
    """An option as operators get it: lists are tuples, and dtypes of any library are `DType`."""
    if isinstance(option, list):
        return tuple(option)
    if isinstance(option, type | np.dtype) or type(option).__name__ == "dtype":
        name = str(option).removeprefix("torch.") if type(option).__module__ == "torch" else np.dtype(option).name
        return DType(name)
    return option


def _kept(cache: dict[Hashable, T], key: Hashable, make: Callable[[], T]) -> T:
    """A new value, kept in a cache that begins anew when it is full."""
    value = make()
    if len(cache) >= _LAYOUTS_KEPT:
        cache.clear()
    cache[key] = value
    return value
