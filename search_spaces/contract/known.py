"""What a stored trial was about, in the terms of this version."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

from autotune.base.errors import AutotuneError
from autotune.codegen.model.fields import invalid_fields
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec

from .operator import Operator
from .registry import operator as registered


@dataclass(frozen=True)
class Known:
    """An operator, its problem and a device."""

    operator: Operator[Any, Any]
    problem: Problem
    spec: DeviceSpec

    def schedule(self, fields: Mapping[str, Any]) -> Schedule | None:
        """The schedule of stored fields; None for those of another version, and for values that no field may have."""
        with suppress(ValueError):
            return possible_schedule(self.operator, fields)
        return None


class ImpossibleFieldError(AutotuneError, ValueError):
    """A stored value that no version's field may have."""


def possible_schedule(operator: Operator[Any, Any], fields: Mapping[str, Any]) -> Schedule:
    """The schedule of stored fields.

    Raises:
        ValueError: one line; they are of another version, or `ImpossibleFieldError`.
    """
    schedule: Schedule = operator.schedule(fields)
    for name, value, why in invalid_fields(schedule):
        raise ImpossibleFieldError(f"{name}={short(value)} of the schedule: {why}")
    return schedule


def understood(operator: str, problem: Mapping[str, Any], limits: Mapping[str, Any]) -> Known:
    """What an operator's name and the stored fields of a problem and of a device stand for.

    Raises:
        ValueError: one line; they are of another version, or of none.
    """
    found = registered(operator)
    return Known(found, found.problem_type.from_dict(problem), device_spec(limits))


def known(operator: str, problem: Mapping[str, Any], limits: Mapping[str, Any]) -> Known | None:
    """What `understood` understands; None in another version."""
    with suppress(ValueError):
        return understood(operator, problem, limits)
    return None
