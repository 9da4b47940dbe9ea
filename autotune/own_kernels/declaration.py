"""All that a user states of a kernel, checked."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Role
from autotune.search_spaces.contract.call import OUT, STREAM

from .arguments import ArrayArgument, Entry, KernelArgument, Scalar, Value
from .expression import Expression
from .origin import Origin

Choice = int | bool | str
_AXES = 3
_CTYPES = ("bool", "char", "int", "unsigned", "long long", "unsigned long long", "float", "double")


@dataclass(frozen=True, eq=False)
class Declaration:
    """A kernel as its user states it; see `kernel`, whose arguments these are.

    Attributes:
        name: of the kernel here: in commands, in databases, and of the dispatcher's function.
        summary: one line for people.
        entry: what is called: a kernel's name, or an instance of a template such as ``add<threads>``.
        headers: of this package, which the text includes.
        source: the text, with other files that it includes.
        arguments: of the kernel, in its order.
        problem: the sizes and their examples.
        parameters: what is searched: the values of each.
        constraints: what a legal schedule fulfils.
        block, grid: threads of a block and blocks of the grid along x, y and z.
        shared_bytes: dynamic shared memory of a block.
        flops: operations of FP32 that the problem asks for, by its sizes; a fused multiply-add counts as two.
        default: the schedule to begin with, where it is legal.
        reference: computes the outputs in NumPy, from arrays and numbers by name; or another kernel of the source.
        small: sizes at which the emulator verifies kernels; those that are left out are derived.
        whole_numbers: whether results for small whole numbers are whole, and so exact in any order of sums.
        origin: where it is declared.

    Raises:
        TypeError, ValueError: one line that says what is wrong.
    """

    name: str
    summary: str
    entry: str
    headers: str
    source: str
    arguments: Mapping[str, KernelArgument]
    problem: Mapping[str, int]
    parameters: Mapping[str, Sequence[Choice]]
    constraints: tuple[Expression, ...]
    block: tuple[Expression, ...]
    grid: tuple[Expression, ...]
    shared_bytes: Expression
    flops: Expression
    reference: Callable[..., Any] | Entry
    origin: Origin
    default: Mapping[str, Choice] = field(default_factory=dict)
    small: Mapping[str, int] = field(default_factory=dict)
    whole_numbers: bool = False

    def __post_init__(self) -> None:
        for name in (self.name, *self.arguments, *self.problem, *self.parameters):
            if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
                raise ValueError(f"{name!r}: expected a name of letters, digits and underscores")
        for names, taken, what in (
            (self.problem, Problem, "a size"),
            (self.parameters, Schedule, "a parameter"),
            (self.arguments, self._taken_words, "an argument"),
        ):
            if wrong := [name for name in names if (name in taken if isinstance(taken, set) else hasattr(taken, name))]:
                raise ValueError(f"{wrong[0]} is {what}, and the name of something else here: expected another name")
        if twice := [name for name in self.parameters if name in self.problem or name in self.arguments]:
            raise ValueError(f"{twice[0]} is a parameter, and a size or an argument: expected another name")
        if not any(one.role is Role.INPUT for one in self.arrays.values()) and not self.of_role(Role.IN_OUT):
            raise ValueError(f"{self.name} has no input: expected an Input or an InOut among its arguments")
        if not self.outputs:
            raise ValueError(f"{self.name} has no output: expected an Output or an InOut among its arguments")
        for name, values in self.parameters.items():
            _check_values(name, values)
        for given, known, what in (
            (self.default, self.parameters, "parameters"),
            (self.small, self.problem, "sizes"),
        ):
            if unknown := [name for name in given if name not in known]:
                raise ValueError(f"{unknown[0]!r} is none of the {what} {', '.join(known)}")
        for name, value in self.default.items():
            if value not in self.parameters[name]:
                allowed = ", ".join(map(str, self.parameters[name]))
                raise ValueError(f"{name}={value} of the default: expected one of {allowed}")
        for axes, what in ((self.block, "block"), (self.grid, "grid")):
            if not 1 <= len(axes) <= _AXES:
                raise ValueError(f"{what} has {len(axes)} axes: expected 1 to {_AXES}")
        self._check_names()

    @property
    def _taken_words(self) -> set[str]:
        """Parameters of the call that are no argument's: the one output may be ``out``."""
        return {STREAM, *([OUT] if self.of_role(Role.OUTPUT) != (OUT,) else [])}

    @cached_property
    def arrays(self) -> dict[str, ArrayArgument]:
        """The arguments that are arrays."""
        return {name: one for name, one in self.arguments.items() if isinstance(one, ArrayArgument)}

    @cached_property
    def scalars(self) -> dict[str, Scalar]:
        """The arguments that callers bring as numbers."""
        return {name: one for name, one in self.arguments.items() if isinstance(one, Scalar)}

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The arrays that are written."""
        return tuple(name for name, one in self.arrays.items() if one.role is not Role.INPUT)

    @cached_property
    def macros(self) -> tuple[str, ...]:
        """The sizes that the kernel gets as macros: those that are none of its arguments."""
        passed = {self._value_of(name, one) for name, one in self.arguments.items() if isinstance(one, Value)}
        return tuple(name for name in self.problem if name not in passed)

    def of_role(self, role: Role) -> tuple[str, ...]:
        """The arrays of a role."""
        return tuple(name for name, one in self.arrays.items() if one.role is role)

    def values(self, sizes: Mapping[str, int]) -> Iterator[Argument]:
        """The members of ``struct Arguments`` for a problem of these sizes."""
        for name, one in self.arguments.items():
            if isinstance(one, ArrayArgument):
                yield Argument(name, f"{one.dtype.cuda}*")
            elif isinstance(one, Scalar):
                yield Argument(name, one.type)
            else:
                yield Argument(name, one.type, Expression(self._value_of(name, one)).number_of(sizes))

    def _value_of(self, name: str, value: Value) -> Any:
        return name if value.of is None else value.of

    def _check_names(self) -> None:
        """That expressions take what there is."""
        sizes, all_names = set(self.problem), {*self.problem, *self.parameters}
        for name, one in self.arguments.items():
            if isinstance(one, ArrayArgument):
                for extent in one.shape:
                    _check_known(f"the shape of {name}", extent, sizes)
            elif one.type not in _CTYPES:
                raise ValueError(f"{name} is a {one.type}: expected one of {', '.join(_CTYPES)}")
            elif isinstance(one, Value):
                _check_known(name, Expression(self._value_of(name, one)), sizes)
        _check_known("flops", self.flops, sizes)
        if isinstance(self.reference, Entry):
            if changed := self.of_role(Role.IN_OUT):
                raise ValueError(f"{changed[0]} is read and written: expected a reference in NumPy for such a kernel")
            for axis in (*self.reference.block, *self.reference.grid):
                _check_known("a dimension of the reference", axis, sizes)
        stated = [("block", one) for one in self.block] + [("grid", one) for one in self.grid]
        stated += [("a constraint", one) for one in self.constraints] + [("shared_bytes", self.shared_bytes)]
        for what, expression in stated:
            _check_known(what, expression, all_names)


def _check_known(what: str, expression: Expression, known: set[str]) -> None:
    if unknown := sorted(expression.names - known):
        raise ValueError(f"{what} is {expression}: {unknown[0]} is none of {', '.join(sorted(known))}")


def _check_values(name: str, values: Sequence[Choice]) -> None:
    if isinstance(values, str) or not values:
        raise ValueError(f"parameter {name} has the values {values!r}: expected a list of some")
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= {int, bool, str}:
        raise TypeError(f"parameter {name} has the values {values!r}: expected whole numbers, flags or strings alone")
    if len({*values}) != len(values):
        raise ValueError(f"parameter {name} has the values {values!r}: expected each of them once")
