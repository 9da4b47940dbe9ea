"""Fields of problems and schedules: what each is for, and what it may be.

A dataclass states both where it declares a field; checks, keys, options and search spaces follow from that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import StrEnum
from functools import cache
from reprlib import repr as short
from typing import Any

from .integers import INT_MAX, TracedNumber


class FieldRole(StrEnum):
    """What a field of a problem is for."""

    SIZE = "size"  # how much there is to do: problems of other sizes are alike
    KIND = "kind"  # what makes it another computation, such as a dtype, a transposition or an activation
    LAYOUT = "layout"  # where operands are in memory: leading dimensions, strides, alignments
    DATA = (
        "data"  # what inputs are like, such as how long segments are: it decides on the time, not on what is computed
    )


@dataclass(frozen=True)
class FieldSpec:
    """What a field may be, and what it is for.

    Attributes:
        role: of a problem's field; None of a schedule's.
        example: of a size, its value on the command line if the user gives none.
        least, most: bounds of a number.
        at_most: of a size, the name of another field that it is never larger than.
        allowed: the only values of a number or an enum, if not all are.
        power_of_two: whether a number must be one.
        values: of a schedule's field, those that a search draws from; none if they follow from others.
        short: an abbreviation of the name, for a schedule on the command line (``BM``) or in a problem's key (``e`` for
            ``element_bytes``).
        codes: in a problem's key, the strings for a flag that is off and on.
        joined: in a problem's key, whether no dash separates it from the field before it.
        implied: of a size, a kind or data, the value that a key leaves out.
        transfers: of a kind, whether times of one value say something about problems of another.
        text: what the field is, where its class' docstring does not say it.
    """

    role: FieldRole | None = None
    example: int | None = None
    least: int | None = None
    most: int | None = None
    at_most: str = ""
    allowed: tuple[Any, ...] = ()
    power_of_two: bool = False
    values: tuple[Any, ...] = ()
    short: str = ""
    codes: tuple[str, str] = ("", "")
    joined: bool = False
    implied: Any = None
    transfers: bool = False
    text: str = ""

    def clamped(self, value: int) -> int:
        """The nearest number within the bounds."""
        low = value if self.least is None else max(self.least, value)
        return low if self.most is None else min(self.most, low)

    def why_invalid(self, value: Any) -> str:
        """Why the field may not have a value, such as ``expected 0 … 2147483647``; empty if it may."""
        if self.allowed and value not in self.allowed:
            return f"expected one of {', '.join(map(str, self.allowed))}"
        if type(value) is not int:
            return ""
        low, high = self.least, self.most
        if (low is not None and value < low) or (high is not None and value > high):
            return f"expected {low} … {high}" if high is not None else f"expected {low} or more"
        if self.role is None and value > INT_MAX:
            return f"expected {INT_MAX} or less"
        if self.power_of_two and (value < 1 or value & (value - 1)):
            return "expected a power of two"
        return ""


def size(
    example: int,
    *,
    implied: int | None = None,
    least: int = 0,
    most: int | None = INT_MAX,
    at_most: str = "",
    short: str = "",
) -> Any:
    """A problem's size; one that has an implied value may be left out, one that is `at_most` another field fits it."""
    spec = FieldSpec(FieldRole.SIZE, example, least, most, at_most, implied=implied, short=short)
    return field(default=MISSING if implied is None else implied, metadata={"spec": spec})


def kind(
    default: Any,
    *,
    allowed: Sequence[Any] = (),
    least: int | None = None,
    most: int | None = None,
    short: str = "",
    codes: tuple[str, str] = ("", ""),
    joined: bool = False,
    implied: Any = None,
    transfers: bool = False,
) -> Any:
    """What makes a problem another computation: a number, an enum's value, or a flag with its `codes` in keys."""
    spec = FieldSpec(
        FieldRole.KIND,
        least=least,
        most=most,
        allowed=tuple(allowed),
        short=short,
        codes=codes,
        joined=joined,
        implied=implied,
        transfers=transfers,
    )
    return field(default=default, metadata={"spec": spec})


def layout(default: int = 0, *, short: str = "", most: int | None = None, text: str = "") -> Any:
    """Where an operand is in memory, in elements or bytes; a key has it only where it is not the usual one."""
    spec = FieldSpec(FieldRole.LAYOUT, least=0, most=most, short=short, text=text)
    return field(default=default, metadata={"spec": spec})


def data(default: Any, *, allowed: Sequence[Any] = (), short: str = "") -> Any:
    """What inputs are like. Calls do not tell that, so theirs have the default, which keys leave out."""
    spec = FieldSpec(FieldRole.DATA, allowed=tuple(allowed), short=short, implied=default)
    return field(default=default, metadata={"spec": spec})


def tunable(
    default: Any,
    *,
    values: Sequence[Any] = (),
    short: str = "",
    least: int = 1,
    power_of_two: bool = False,
    allowed: Sequence[Any] = (),
) -> Any:
    """A schedule's field."""
    number = type(default) is int
    spec = FieldSpec(
        least=least if number else None,
        allowed=tuple(allowed),
        power_of_two=power_of_two,
        values=tuple(values),
        short=short,
    )
    return field(default=default, metadata={"spec": spec})


def field_type(declared: Field[Any]) -> type:
    """The type of a field's values, which is that of its default; a field without one is an ``int``."""
    return int if declared.default is MISSING else type(declared.default)


def field_specs(cls: type[Any]) -> dict[str, FieldSpec]:
    """What a dataclass says of each of its fields, by name in order of declaration."""
    known = _specs.get(cls)
    if known is None:
        known = _specs[cls] = {one.name: one.metadata.get("spec", FieldSpec()) for one in fields(cls)}
    return known


_specs: dict[type[Any], dict[str, FieldSpec]] = {}


def invalid_fields(instance: Any) -> Iterator[tuple[str, Any, str]]:
    """Name, value and reason, for each field of a dataclass whose value is not allowed."""
    cls: type = type(instance)
    for name, expected, spec in _declared(cls):
        value = getattr(instance, name)
        if expected in (int, bool) and type(value) is not expected and not isinstance(value, TracedNumber):
            yield name, short(value), f"expected {expected.__name__}, not {type(value).__name__}"
        elif wrong := spec.why_invalid(value):
            yield name, value, wrong
        elif (other := spec.at_most) and value > getattr(instance, other):
            yield name, value, f"expected at most {other}={getattr(instance, other)}"


@cache
def _declared(cls: type[Any]) -> tuple[tuple[str, type, FieldSpec], ...]:
    """Name, type and specification of each field: found out once, for a search checks thousands of schedules."""
    specs = field_specs(cls)
    return tuple((one.name, field_type(one), specs[one.name]) for one in fields(cls))
