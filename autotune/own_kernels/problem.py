"""The problems of a user's kernel, and its schedules: dataclasses made of what the user states."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import make_dataclass
from enum import StrEnum
from functools import lru_cache
from math import prod
from typing import Any, ClassVar, TypeVar

import numpy as np

from autotune.base.errors import AutotuneError
from autotune.codegen.model.fields import size, tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Exact, Role, Tensor
from autotune.codegen.model.work import Unit, Work

from .arguments import Entry, Input
from .declaration import Choice, Declaration
from .expression import Expression

Restore = Callable[..., Any]  # makes, in another process, what was sent there
T = TypeVar("T", "OwnProblem", "OwnSchedule")


class KernelReferenceError(AutotuneError, RuntimeError):
    """The function that says what is right raised an error, or returned something else than the outputs."""


class OwnProblem(Problem):
    """The problem of a user's kernel: its sizes."""

    declaration: ClassVar[Declaration]
    restore: ClassVar[Restore]
    emulated: ClassVar[Callable[..., dict[str, Array]]]

    def __reduce__(self) -> tuple[Restore, tuple[Any, ...]]:
        own = type(self).declaration
        return type(self).restore, (own.origin, own.name, False, self.to_dict())

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """One for each array."""
        return _tensors(self)

    @property
    def scalars(self) -> Mapping[str, float]:
        """The examples."""
        return {name: one.example for name, one in self.declaration.scalars.items()}

    @property
    def work(self) -> Work:
        """The bytes of its arrays, each once, and the operations that its user states."""
        flops = self.declaration.flops.number_of(self.to_dict())
        return Work(self.tensor_bytes, {Unit.FP32: flops} if flops else {})

    def inputs(self, seed: int) -> dict[str, Array]:
        """Random numbers, or what the user's functions make."""
        return self._made(seed, whole=False)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Small whole numbers, if results for them are whole, too."""
        return self._made(seed, whole=True) if self.declaration.whole_numbers else None

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """What the user's function returns: an array, a tuple of arrays, or arrays by name."""
        own = self.declaration
        if isinstance(own.reference, Entry):
            return type(self).emulated(self, inputs, scalars)
        floats = {name for name, one in own.arrays.items() if one.dtype.is_float}
        given = {name: array.astype(np.float64) if name in floats else array for name, array in inputs.items()}
        named = {**self.views(given), **scalars, **self.to_dict()}
        try:
            found = own.reference(**{name: named[name] for name in reference_names(own)})
        except Exception as error:
            raise KernelReferenceError(f"the reference of {own.name}: {type(error).__name__}: {error}") from error
        if not isinstance(found, Mapping):
            arrays = found if isinstance(found, tuple) else (found,)
            if len(arrays) != len(own.outputs):
                outputs = ", ".join(own.outputs)
                raise KernelReferenceError(
                    f"the reference of {own.name} returns {len(arrays)} arrays: expected {outputs}"
                )
            found = dict(zip(own.outputs, arrays, strict=True))
        return {name: self._flat(name, array, found) for name, array in found.items()}

    def _flat(self, name: str, array: Any, found: Mapping[str, Any]) -> Array:
        """One of the arrays that the reference returns, as a flat buffer of the type that verification compares."""
        outputs = {tensor.name: tensor for tensor in self.tensors if tensor.role is not Role.INPUT}
        scale = name not in outputs
        tensor = outputs.get(name.removesuffix("_scale"))
        if tensor is None or not outputs.keys() <= found.keys():
            names, expected = ", ".join(found), ", ".join(outputs)
            raise KernelReferenceError(f"the reference of {self.declaration.name} returns {names}: expected {expected}")
        values = np.asarray(array)
        if values.shape != tensor.shape:
            shapes = f"of shape {values.shape}: expected {tensor.shape}"
            raise KernelReferenceError(f"the reference of {self.declaration.name} returns {name} {shapes}")
        wide = scale or not isinstance(tensor.judged, Exact)
        return np.ascontiguousarray(values, np.float64 if wide else tensor.dtype.numpy).reshape(-1)

    def _made(self, seed: int, *, whole: bool) -> dict[str, Array]:
        random, arrays = np.random.default_rng(seed), self.declaration.arrays
        made = {}
        for tensor in self.tensors:
            argument = arrays[tensor.name]
            if isinstance(argument, Input):
                made[tensor.name] = np.ascontiguousarray(argument.made(random, tensor.shape, whole=whole)).reshape(-1)
        return made


class OwnSchedule(Schedule):
    """A choice of a value for each parameter."""

    declaration: ClassVar[Declaration]
    restore: ClassVar[Restore]

    def __reduce__(self) -> tuple[Restore, tuple[Any, ...]]:
        own = type(self).declaration
        return type(self).restore, (own.origin, own.name, True, self.to_dict())

    def names(self, problem: OwnProblem) -> dict[str, Any]:
        """What expressions take: sizes and parameters."""
        return problem.to_dict() | self.to_dict()

    def block(self, problem: OwnProblem) -> tuple[int, int, int]:
        """Threads of a block along x, y, z."""
        return three(self.declaration.block, self.names(problem), 1)

    def grid(self, problem: OwnProblem) -> tuple[int, int, int]:
        """Blocks of the grid along x, y, z."""
        return three(self.declaration.grid, self.names(problem))

    def footprint(self, problem: OwnProblem) -> Footprint:
        """Threads, and dynamic shared memory."""
        shared_bytes = self.declaration.shared_bytes.number_of(self.names(problem))
        return Footprint(prod(self.block(problem)), shared_bytes)

    def blocks(self, problem: OwnProblem) -> int:
        """All blocks of the grid."""
        return prod(self.grid(problem))


def problem_type(own: Declaration, restore: Restore, emulated: Callable[..., dict[str, Array]]) -> type[OwnProblem]:
    """The dataclass of the problems of a kernel; `emulated` computes the outputs where an entry is the reference."""
    fields = [(name, int, size(example)) for name, example in own.problem.items()]
    made: type[OwnProblem] = make_dataclass(f"{own.name}_problem", fields, bases=(OwnProblem,), frozen=True)
    made.emulated = staticmethod(emulated)
    return _completed(made, own, restore)


def schedule_type(own: Declaration, restore: Restore) -> type[OwnSchedule]:
    """The dataclass of the schedules of a kernel: a field for each parameter, which has the values stated."""
    fields = [_parameter(name, values, own.default.get(name, values[0])) for name, values in own.parameters.items()]
    made: type[OwnSchedule] = make_dataclass(f"{own.name}_schedule", fields, bases=(OwnSchedule,), frozen=True)
    return _completed(made, own, restore)


def _parameter(name: str, values: Sequence[Choice], default: Choice) -> tuple[str, type, Any]:
    """Name, type and declaration of a schedule's field."""
    if isinstance(default, str):
        members: Any = StrEnum
        kind = members(name, {f"value_{number}": value for number, value in enumerate(values)})
        default, values = kind(default), tuple(kind)
    least = min(value for value in values if isinstance(value, int)) if type(default) is int else 1
    return name, type(default), tunable(default, values=values, allowed=values, least=least, short=name)


def reference_names(own: Declaration) -> tuple[str, ...]:
    """What the reference takes of arrays, scalars and sizes.

    Raises:
        ValueError: it takes something else.
    """
    if isinstance(own.reference, Entry):
        return ()
    known = {*own.arrays, *own.scalars, *own.problem} - {*own.of_role(Role.OUTPUT)}
    names = tuple(inspect.signature(own.reference).parameters)
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"the reference takes {unknown[0]}: expected some of {', '.join(sorted(known))}")
    return names


def _completed(made: type[T], own: Declaration, restore: Restore) -> type[T]:
    made.declaration, made.restore = own, staticmethod(restore)
    made.__module__ = own.origin.module or own.origin.path or "__main__"
    made.__doc__ = own.summary
    return made


@lru_cache(maxsize=1024)
def _tensors(problem: OwnProblem) -> tuple[Tensor, ...]:
    sizes = problem.to_dict()
    return tuple(one.tensor(name, sizes) for name, one in problem.declaration.arrays.items())


def three(axes: Sequence[Expression], names: Mapping[str, Any], least: int = 0) -> tuple[int, int, int]:
    """Numbers along x, y and z.

    Raises:
        ValueError: one is no whole number, or too small.
    """
    x, y, z = (*(one.number_of(names, least) for one in axes), *[1] * (3 - len(axes)))
    return x, y, z
