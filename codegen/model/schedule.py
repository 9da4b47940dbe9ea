"""How to compute: the part of a schedule that every operator shares."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from math import prod
from typing import Any, ClassVar, Self

from autotune.base.suggestion import did_you_mean

from .fields import field_specs
from .footprint import Footprint
from .integers import ceil_div
from .plain_fields import checked_fields

KERNEL = "kernel"  # what stored schedules and words call the kernel of an operator that has several


class Specialize(StrEnum):
    """Which dimensions of a problem are compile-time constants of the emitted source."""

    NONE = "none"
    SHAPE = "shape"


class _SameAs:
    def __init__(self, field: str) -> None:
        self._field = field

    def __get__(self, schedule: Schedule | None, kind: type[Schedule]) -> Any:
        return self if schedule is None else getattr(schedule, self._field)


def same_as(field: str) -> Any:
    """What is always the same as a field, in the body of a schedule's class."""
    return _SameAs(field)


@dataclass(frozen=True)
class Schedule:
    """A frozen choice of tile sizes, layouts and orders: ints, bools and string enums, each with a default.

    Each field is declared by `tunable` (codegen/model/fields.py). Values that follow from others are properties, never
    fields. What a kernel fixes of what others choose is an attribute of its class without an annotation, such as
    ``cluster = 1`` or ``threads_per_row = same_as("threads")``. `renamed` maps field names of earlier releases, as they
    were stored, to the present ones. `kernel` is the name of the kernel that the schedule is for, if its operator has
    several.
    """

    renamed: ClassVar[Mapping[str, str]] = {}
    kernel: ClassVar[str] = ""

    def footprint(self, problem: Any) -> Footprint:
        """What a block takes of an SM for a problem of the operator. By default its field `threads`, and nothing else.

        Raises:
            NotImplementedError: there is no such field.
        """
        if not hasattr(self, "threads"):
            raise NotImplementedError(f"{type(self).__name__} has no field 'threads': state its footprint")
        return Footprint(self.threads)

    def blocks(self, problem: Any) -> int:
        """Blocks of the grid for a problem of the operator. By default there is one for each tile of `tile_sizes`."""
        return prod(ceil_div(getattr(problem, name), tile) for name, tile in self.tile_sizes(problem).items())

    def tile_sizes(self, problem: Any) -> Mapping[str, int]:
        """How much a block takes at once of the problem's sizes, by name, for problems of a few tiles that prove it."""
        return {}

    def replace(self, **fields: Any) -> Self:
        """The same with other values of some fields, as by `dataclasses.replace`, in a tenth of its time.

        A search builds tens of thousands of schedules.
        """
        if unknown := fields.keys() - self.__dict__.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **fields)
        return other

    @classmethod
    def short_names(cls) -> dict[str, str]:
        """The fields' names by their customary abbreviations, such as ``block_m`` by ``BM``."""
        return {spec.short: name for name, spec in field_specs(cls).items() if spec.short}

    def to_dict(self) -> dict[str, Any]:
        """The kernel, if it has a name, and the fields as plain JSON values, in the order of declaration."""
        values = ((name, getattr(self, name)) for name in field_specs(type(self)))
        plain = {name: str(value) if isinstance(value, StrEnum) else value for name, value in values}
        return {KERNEL: self.kernel, **plain} if self.kernel else plain

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; unknown fields, wrong types and another kernel raise ``ValueError``."""
        if cls.kernel and values.get(KERNEL, cls.kernel) != cls.kernel:
            raise ValueError(f"{KERNEL}={values[KERNEL]!r} of {cls.__name__}: expected {cls.kernel}")
        own = {name: value for name, value in values.items() if name != KERNEL} if cls.kernel else values
        return cls(**checked_fields(cls, own))

    @classmethod
    def parse(cls, words: list[str], base: Self | None = None) -> Self:
        """Change fields of `base` (by default the default schedule) by ``NAME=VALUE`` arguments; names may be short.

        Raises:
            ValueError: one line that says what is allowed.
        """
        values, short = (base or cls()).to_dict(), cls.short_names()
        given: set[str] = set()
        for word in words:
            name, equals, text = word.partition("=")
            field = short.get(name, name)
            if field not in values:
                names = [*dict.fromkeys([*values, *short])]
                near = did_you_mean(name, names)
                raise ValueError(f"{word!r}: {near}expected NAME=VALUE, with a NAME of {', '.join(names)}")
            if not equals:
                raise ValueError(f"{word!r} has no value: expected one, such as {word}={values[field]}")
            if field in given:
                raise ValueError(f"{_shown(word)}: {field} is given more than once")
            given.add(field)
            values[field] = _parsed(field, text, values[field])
        return cls.from_dict(values)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that name this schedule."""
        text = json.dumps([type(self).__name__, self.to_dict()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        """The schedule as the ``name=value`` arguments that `parse` reads, with short names where there are any."""
        short = {field: name for name, field in self.short_names().items()}
        return " ".join(f"{short.get(name, name)}={_word(value)}" for name, value in self.to_dict().items())

    @property
    def summary(self) -> str:
        """The words of the kernel, of fields with short names, and of those that differ from the defaults; else all."""
        words, defaults = str(self).split(), str(type(self)()).split()
        short = self.short_names()
        telling = (
            word
            for word, default in zip(words, defaults, strict=True)
            if word != default or word.partition("=")[0] in {KERNEL, *short}
        )
        return " ".join(telling) or str(self)

    @property
    def shape_generic(self) -> Self:
        """The same schedule with a shape-generic kernel, which is compiled once for many sizes."""
        return self._specialized(Specialize.NONE)

    @property
    def shape_specialized(self) -> Self:
        """The same schedule with a kernel specialised for the problem's shape, if the operator has such kernels."""
        return self._specialized(Specialize.SHAPE)

    def _specialized(self, specialize: Specialize) -> Self:
        return replace(self, **{"specialize": specialize}) if hasattr(self, "specialize") else self

    @property
    def members(self) -> dict[str, Any]:
        """What kernels read of a schedule, in the order of declaration: its fields, and what its class fixes."""
        kind: Any = type(self)
        return {name: getattr(self, name) for name in _declared(kind)}

    @property
    def constants(self) -> dict[str, int | str]:
        """The members, and those of their enums, as conditions in .cuh files name them."""
        members = self.members
        enums = {type(value) for value in members.values() if isinstance(value, StrEnum)}
        values: dict[str, int | str] = {
            name: str(value) if isinstance(value, StrEnum) else value for name, value in members.items()
        }
        return {member.value: member.value for kind in enums for member in kind} | values


@cache
def _declared(cls: type[Any]) -> tuple[str, ...]:
    names = {name: value for kind in reversed(cls.__mro__) for name, value in vars(kind).items()}
    plain = int | StrEnum | _SameAs
    fixed = {name for name, value in names.items() if isinstance(value, plain) and not name.startswith("_")}
    return tuple(name for name in names if name in fixed | field_specs(cls).keys())


def _parsed(name: str, text: str, current: Any) -> Any:
    if isinstance(current, bool):
        if text not in ("0", "1", "false", "true"):
            raise ValueError(f"{name}={_shown(text)}: expected 0, 1, false or true")
        return text in ("1", "true")
    if isinstance(current, int):
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"{name}={_shown(text)}: expected a whole number") from None
    return text


def _shown(text: str) -> str:
    """What a user typed, on one line."""
    return text if text.isprintable() else repr(text)


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
