"""What a call comes to: from arrays and options to a problem, its plan and the values of a launch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.lists import list_of
from autotune.codegen.model.tensor import row_major
from autotune.dispatcher.arrays import arrays
from autotune.search_spaces.contract.bound import bound, output_types
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.operator import Operator

from .arguments import Values, check_options, check_scalars
from .checks import check_alignment, check_apart, check_views, moved
from .lists import check_lists, one_by_one, together
from .plan import plan_for
from .ready_call import Arrays, ReadyCall, Resolved

T = TypeVar("T")

_LAYOUTS_KEPT = 4096

Named = list[tuple[str, Any]]  # arrays by name, and elements of lists by theirs
Case = tuple[Any, ...]  # what beside its arrays' layouts tells a call from others; see `Resolver`


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
        check_scalars(call.scalars, scalars, call.nonnegative)
        case = tuple(map(plain_option, case))
        check_options(call, case)
        if call.lists:
            check_lists(call, dict(zip(call.arrays, (*inputs, *outputs), strict=True)))
        given = one_by_one(call, zip(call.inputs, inputs, strict=True))
        handle = arrays.stream_handle(stream, given[0][1])
        read = [self._fingerprint(name, array, handle) for name, array in given]
        key = self._key(case, given, read)
        outputs = self._allocated(key, handle, given, outputs, case, scalars)
        written = one_by_one(call, zip(call.outputs, outputs, strict=True))
        given, read = given + written, read + [self._fingerprint(name, array, handle) for name, array in written]
        key = self._key(case, given, read)
        at = tuple(pointer for pointer, _ in read)
        resolved = self._resolved.get(key)
        if resolved is None:
            resolved = _kept(self._resolved, key, partial(self._resolve, handle, given, case))
        else:
            check_apart(call, moved((name for name, _ in given), resolved.views, at))
        measurable = resolved.plan is not None and resolved.plan.unmeasured and self._repeatable(at, len(written), case)
        return ReadyCall(resolved, handle, (*at, *resolved.numbers, *scalars), outputs, measurable)

    def _repeatable(self, at: Sequence[int], outputs: int, case: Case) -> bool:
        """Whether no array is read and written; `at` has the addresses of all, the outputs' at its end."""
        call, first = self._call, len(at) - outputs
        return not (call.updates or (call.accumulates and case[-1]) or {*at[:first]} & {*at[first:]} - {0})

    def types(self, inputs: Mapping[str, Layout | None], case: Case) -> Mapping[str, ArrayType]:
        """Shapes and dtypes of all outputs; inputs and outputs are those of `one_by_one`.

        Raises:
            TypeError, ValueError: there is no such call.
        """
        call = self._call
        found = output_types(call, together(call, inputs), dict(zip(call.options, case, strict=False)))
        return dict(one_by_one(call, found.items()))

    def _key(self, case: Case, given: Named, read: list[tuple[int, Hashable]]) -> Hashable:
        """What calls have in common that differ in addresses only."""
        names = tuple(name for name, _ in given) if self._call.lists else ()
        return (case, *names, *(kind for _, kind in read))

    def _fingerprint(self, name: str, array: Any, handle: int) -> tuple[int, Hashable]:
        left_out = array is None and name in self._call.optional
        return (0, None) if left_out else arrays.fingerprint(name, array, handle)

    def _allocated(
        self, key: Hashable, handle: int, inputs: Named, outputs: Arrays, case: Case, scalars: Values
    ) -> Arrays:
        """The outputs, with new ones for those that are required and left out."""
        call = self._call
        given = dict(zip(call.outputs, outputs, strict=True))
        updated = [one for one in inputs if one[0] in call.updates]
        for name, array in (*one_by_one(call, given.items()), *updated):
            if array is not None and arrays.immutable(array):
                right = "pass one of another" if name in call.updates else f"omit {list_of(name)}="
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
        like = inputs[0][1]
        new = {name: arrays.empty(*one, like) for name, one in types.items() if list_of(name) in missing}
        given |= together(call, new)
        return tuple(given.values())

    def _read_types(self, handle: int, inputs: Named, outputs: Arrays, case: Case) -> Mapping[str, ArrayType]:
        """Shapes and dtypes of all outputs, of inputs that state a problem: nothing is allocated for others."""
        views = {name: arrays.read(name, array, handle) for name, array in inputs if array is not None}
        for name, view in views.items():
            check_alignment(name, view)
        layouts = {name: views[name].layout if name in views else None for name, _ in inputs}
        types = self.types(layouts, case)
        bytes_of = {layout.dtype: layout.itemsize for layout in layouts.values() if layout}
        left_out = {name for name, one in zip(self._call.outputs, outputs, strict=True) if one is None}
        left_out &= {*self._call.optional}
        new: dict[str, Layout | None] = dict.fromkeys(left_out)
        for name, (shape, dtype) in types.items():
            if name in left_out:
                continue
            size = bytes_of.get(dtype) or DType(dtype).bytes
            new[name] = Layout(shape, row_major(shape), dtype, size, WIDEST_ACCESS)  # new arrays are aligned
        self._bound(layouts | new, case)
        return types

    def _bound(self, layouts: Mapping[str, Layout | None], case: Case) -> Binding:
        """What the call computes on arrays of these layouts, which are those of `one_by_one`."""
        call = self._call
        options = dict(zip(call.options, case, strict=False))
        nonzero = case[len(case) - len(call.all_switches) :]
        options |= {f"{name}_nonzero": one for name, one in zip(call.all_switches, nonzero, strict=True)}
        return bound(call, together(call, layouts), options)

    def _resolve(self, handle: int, given: Named, case: Case) -> Resolved:
        """Check the arrays, and get the plan of the problem that they state."""
        call = self._call
        views = {name: arrays.read(name, array, handle) for name, array in given if array is not None}
        layouts = {name: views[name].layout if name in views else None for name, _ in given}
        types = self.types({name: one for name, one in layouts.items() if list_of(name) in call.inputs}, case)
        check_views(call, views, types)
        binding = self._bound(layouts, case)
        check_apart(call, views)
        written = [view for name, view in views.items() if list_of(name) in call.required_written]
        if all(0 in view.layout.shape for view in written):
            return Resolved(views, None, None)
        plan = plan_for(self._operator, binding.problem, written[0].device, handle)
        names = (*map(binding.tensor_of, layouts), *binding.numbers, *call.scalars)
        return Resolved(views, plan, plan.launcher(names), tuple(binding.numbers.values()), binding)


def plain_option(option: Any) -> Any:
    """An option as operators get it: lists are tuples, whole numbers ``int``, and dtypes of any library `DType`."""
    if isinstance(option, list | tuple):
        return tuple(map(plain_option, option))
    if isinstance(option, bool | np.bool_):
        return bool(option)
    if isinstance(option, Integral):
        return int(option)
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
