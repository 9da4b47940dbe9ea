"""How users call an operator: stated once, by the operator; the dispatcher derives its functions from that."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.lists import list_of
from autotune.codegen.model.problem import Problem

from .layouts import Shape

STREAM = "stream"  # the parameter that every call has
OUT = "out"  # the parameter that takes several outputs as a tuple


class ArrayType(NamedTuple):
    """Shape of an output, and the name of its dtype; an output that the call allocates is row-major."""

    shape: Shape
    dtype: str


class Binding(NamedTuple):
    """What a call computes.

    Attributes:
        problem: for arrays of these layouts.
        pointers: the kernel's pointer arguments that get the addresses of arrays, where they have other names. A list's
            elements go to those of the kernel's list, whose other elements are null pointers.
        numbers: what the kernel takes for each element of a list, such as ``length[2]``; 0 for those left out.
        shapes: for a call without `Call.types`, of the arrays whose shapes are not their tensors', such as those whose
            rows have several axes. Without it, an input may have several axes for its tensor's first one.
    """

    problem: Problem
    pointers: Mapping[str, str] = MappingProxyType({})
    numbers: Mapping[str, int] = MappingProxyType({})
    shapes: Mapping[str, Shape] = MappingProxyType({})

    def tensor_of(self, array: str) -> str:
        """The problem's name of an array, or of the element of a list."""
        own = list_of(array)
        return self.pointers.get(own, own) + array[len(own) :]


@dataclass(frozen=True)
class Call:
    """The function that users call, and what its arguments mean.

    A parameter of `declaration` is one of: an array (`inputs`, `outputs`), a number that the kernel takes (`scalars`),
    the stream, or an option. Options decide the problem; `types` and `bind` get a list as a tuple, and a dtype of any
    library as a `DType`. A scalar in device memory is an array of one element.

    `types` and `bind` are called by keyword with options, and with the `Layout` of each array, None for one that is
    left out; `bind` with those that it names. They raise `TypeError` or `ValueError` with one line that says what is
    wrong and what would be right.

    Attributes:
        declaration: a function whose body is its docstring: the parameters and the documentation that users see. Order
            and names follow PyTorch's function of this name. ``stream`` is its last parameter.
        inputs: the arrays that are read; the first one may not be left out.
        outputs: the arrays that are written. Several outputs are parameters of their own, or one tuple ``out=``.
        bind: the `Binding` of a call. From the problem's tensors follow strides and alignments that it leaves out, and
            each array is checked against its tensor (bound.py).
        types: the `ArrayType` of each output, from the shapes and dtypes of the inputs, which it checks. PyTorch's
            tracers call it, too, with sizes that are symbols. If it is left out, shapes and dtypes of inputs and
            outputs are those of the problem's tensors, and `bind` may ask of an output only whether it is given.
        scalars: numbers that go to the kernel's arguments of the same names.
        optional: inputs that may be None, and outputs that are computed only if they are given.
        switches: the scalars of which `bind` gets whether they are not 0, as ``<name>_nonzero``: a kernel for 0 leaves
            something out.
        nonnegative: the scalars that have to be finite, and 0 at least.
        accumulates: one more of the switches, which scales what the output holds before. If it is not 0, the output
            must be given and is read.
        in_place: pairs of an output and an input that may be the same array.
        updates: the inputs that are written, too, such as a cache of keys. Of each, what the problem's reference says
            changes, and nothing else. A call without outputs returns None.
        lists: the inputs and outputs that are lists of arrays, one or more, of shapes of their own. `types` and `bind`
            get a list of layouts for each, and `types` returns a list of types.
        reordered: the arrays whose axes `bind` may take in another order than their tensors have, such as those of a
            transposed operand, or that may repeat elements. It states where they are.
    """

    declaration: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    bind: Callable[..., Binding]
    types: Callable[..., Mapping[str, ArrayType | Sequence[ArrayType]]] | None = None
    scalars: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    nonnegative: tuple[str, ...] = ()
    accumulates: str = ""
    in_place: tuple[tuple[str, str], ...] = ()
    updates: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    reordered: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = {*self.signature.parameters, *(self.outputs if self.outputs_packed else ())}
        named = {
            *self.arrays,
            *self.scalars,
            *self.optional,
            *self.all_switches,
            *self.nonnegative,
            *self.reordered,
            STREAM,
        }
        named.update(name for pair in self.in_place for name in pair)
        if unknown := sorted(named - known):
            raise ValueError(f"{unknown[0]!r} is no parameter of {self.name}{self.signature}")
        if not self.inputs or self.inputs[0] in self.optional:
            raise ValueError(f"{self.name}: expected a first input that is not optional")
        if twice := sorted({*self.inputs} & {*self.outputs}):
            raise ValueError(f"{self.name}: {twice[0]!r} is an input and an output: expected an input in `updates`")
        if others := sorted({*self.updates} - {*self.inputs}):
            raise ValueError(f"{self.name}: {others[0]!r} is updated: expected an input")
        singles = {*self.scalars, *self.optional, *self.updates, *(name for pair in self.in_place for name in pair)}
        if wrong := sorted({*self.lists} & singles | {*self.lists} - {*self.arrays}):
            raise ValueError(f"{self.name}: {wrong[0]!r} is a list: expected a plain input or output")
        if self.types is None and self.lists:
            raise ValueError(f"{self.name}: expected types of {self.lists[0]}, a list")
        if not self.required_outputs and not {*self.updates} - {*self.optional}:
            raise ValueError(f"{self.name}: expected an output or an update that is not optional")

    @property
    def name(self) -> str:
        """The operator's."""
        return self.declaration.__name__

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters that users see, with types rather than their names."""
        return inspect.signature(self.declaration, eval_str=True)

    @cached_property
    def bound_parameters(self) -> frozenset[str] | None:
        """The arguments that `bind` names; None if it takes all."""
        parameters = inspect.signature(self.bind).parameters
        takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
        return None if takes_all else frozenset(parameters)

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        """All arrays: inputs, then outputs."""
        return (*self.inputs, *self.outputs)

    @property
    def outputs_packed(self) -> bool:
        """Whether several outputs are given as one tuple ``out=``."""
        return OUT in self.signature.parameters and OUT not in self.outputs

    @property
    def required_outputs(self) -> tuple[str, ...]:
        """The outputs that a call always computes, and returns."""
        return tuple(name for name in self.outputs if name not in self.optional)

    @property
    def required_written(self) -> tuple[str, ...]:
        """The arrays that a call always writes."""
        return (*self.required_outputs, *(name for name in self.updates if name not in self.optional))

    @property
    def optional_updates(self) -> tuple[str, ...]:
        """The arrays that are updated if they are given."""
        return tuple(name for name in self.updates if name in self.optional)

    @cached_property
    def apart(self) -> tuple[tuple[str, str], ...]:
        """Pairs of an array that is written and another one, which may have no memory in common; but see `in_place`."""
        written = {*self.outputs, *self.updates}
        pairs = ((name, other) for number, name in enumerate(self.arrays) for other in self.arrays[:number])
        return tuple((a, b) if a in written else (b, a) for a, b in pairs if {a, b} & written)

    @property
    def functional(self) -> tuple[str, ...]:
        """The parameters of the call that allocates its outputs, on the current stream."""
        left_out = {*self.outputs, OUT, STREAM, self.accumulates}
        return tuple(name for name in self.signature.parameters if name not in left_out)

    @property
    def all_switches(self) -> tuple[str, ...]:
        """The scalars of which `bind` gets whether they are not 0."""
        return (*self.switches, *filter(None, [self.accumulates]))

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The parameters that decide the problem."""
        known = {*self.arrays, *self.scalars, STREAM, *([OUT] if self.outputs_packed else [])}
        return tuple(name for name in self.signature.parameters if name not in known)

    @cached_property
    def default_scalars(self) -> Mapping[str, float]:
        """The scalars that may be left out, and what they are then."""
        stated = {name: self.signature.parameters[name].default for name in self.scalars}
        return {name: value for name, value in stated.items() if value is not inspect.Parameter.empty}

    @cached_property
    def texts(self) -> Mapping[str, bool]:
        """Of each option that states its type, whether it may be a string; a `DType` may be given by its name."""
        stated = {name: self.signature.parameters[name].annotation for name in self.options}
        unstated = (inspect.Parameter.empty, Any)
        return {name: bool({str, DType} & {one, *get_args(one)}) for name, one in stated.items() if one not in unstated}
