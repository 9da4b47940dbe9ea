"""What a stored trial was about, in the terms of this version."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from autotune.codegen.model.fields import invalid_fields
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec

from .operator import Operator
from .registry import OPERATORS


@dataclass(frozen=True)
class Known:
    """An operator, its problem and a device."""

    operator: Operator[Any, Any]
    problem: Problem
    spec: DeviceSpec

    def schedule(self, fields: Mapping[str, Any]) -> Schedule | None:
        """The schedule of stored fields; None for those of another version, and for values that no field may have."""
        with suppress(ValueError):
            schedule: Schedule = self.operator.schedule(fields)
            return None if any(invalid_fields(schedule)) else schedule
        return None


def known(operator: str, problem: Mapping[str, Any], limits: Mapping[str, Any]) -> Known | None:
    """What an operator's name and the stored fields of a problem and of a device stand for; None in another version."""
    with suppress(LookupError, ValueError):
        found = OPERATORS[operator]
        return Known(found, found.problem_type.from_dict(problem), device_spec(limits))
    return None
