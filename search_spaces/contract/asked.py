"""Schedules that somebody asks for: some fields have given values, or have not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autotune.base.suggestion import did_you_mean
from autotune.codegen.model.fields import invalid_fields
from autotune.codegen.model.schedule import KERNEL, Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .kernel import P, S
from .operator import Operator

_Test = Callable[[Schedule], str]


def asked_for(operator: Operator[P, S], only: Sequence[str], exclude: Sequence[str]) -> Operator[P, S]:
    """The operator as if only the schedules that are asked for were legal.

    Args:
        operator: the operator.
        only: ``FIELD=VALUE,…`` each: the field has one of these values. A kernel without the field is not asked for.
        exclude: ``FIELD=VALUE,…`` each: the field has none of these; or ``FIELD``, which keeps its default then.

    Raises:
        ValueError: no kernel has such a field, or it may not have such a value; one line.
    """
    tests = [*(_wanted(operator, word) for word in only), *(_unwanted(operator, word) for word in exclude)]
    if not tests:
        return operator

    def constraints(problem: P, schedule: Any, spec: DeviceSpec) -> list[str]:
        return list(operator.constraints(problem, schedule, spec)) or [why for test in tests if (why := test(schedule))]

    return operator.with_kernels(constraints=constraints)


def _wanted(operator: Operator[Any, Any], word: str) -> _Test:
    name, equals, texts = word.partition("=")
    if not equals:
        raise ValueError(f"{word!r}: expected FIELD=VALUE,… with one or several values")
    values = _values(operator, name, texts.split(","))
    return lambda one: "" if _value(one, name) in values else f"{name} {_value(one, name)}: asked for {texts}"


def _unwanted(operator: Operator[Any, Any], word: str) -> _Test:
    name, equals, texts = word.partition("=")
    if not equals:
        _values(operator, name, ())
        return lambda one: "" if _value(one, name) == _value(type(one)(), name) else f"{name} is excluded"
    values = _values(operator, name, texts.split(","))
    return lambda one: f"{name} {_value(one, name)} is excluded" if _value(one, name) in values else ""


def _values(operator: Operator[Any, Any], name: str, texts: Iterable[str]) -> set[str]:
    """Values of a field as `_value` has them, each of which some kernel's schedules know."""
    owners = [kind for kind in operator.schedule_types if _value(kind(), name)]
    if not owners:
        kinds = operator.schedule_types
        known = {field for kind in kinds for field in (*kind().to_dict(), *kind.short_names())}
        known |= {KERNEL} if len(kinds) > 1 else set()
        near = did_you_mean(name, known)
        raise ValueError(f"{name!r} is no field of {operator.name}; {near}autotune show lists them")
    kernels = [kernel.name for kernel in operator.kernels]
    found = set()
    for text in texts:
        if name == KERNEL and text not in kernels:
            raise ValueError(f"{name}={text}: expected one of {', '.join(kernels)}")
        parsed = None if name == KERNEL else _parsed(owners, f"{name}={text}")
        if parsed and (wrong := [why for _, _, why in invalid_fields(parsed)]):
            raise ValueError(f"{name}={text}: {wrong[0]}")
        found.add(_value(parsed, name) if parsed else text)
    return found


def _parsed(owners: Sequence[type[Schedule]], word: str) -> Schedule:
    """The schedule with that field, of the first kernel that may have the value."""
    *others, last = owners
    for kind in others:
        try:
            return kind.parse([word])
        except ValueError:
            continue
    return last.parse([word])


def _value(schedule: Schedule, name: str) -> str:
    """A field's value by its long or short name, as text; empty if the schedule has no such field."""
    values = schedule.to_dict()
    return str(values.get(schedule.short_names().get(name, name), ""))
