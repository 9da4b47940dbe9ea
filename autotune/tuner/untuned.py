"""The problems that programs called on a device model without a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.db.states import TimeSource
from autotune.devices.base import Device
from autotune.dispatcher.choice.called import untuned_calls
from autotune.search_spaces.contract.operator import Operator

if TYPE_CHECKING:
    from autotune.db import TuningDB


def untuned_problems(operator: Operator[Any, Any], device: Device, db: TuningDB) -> list[Problem]:
    """Those of an operator that have no record by now, of the device's kind of time or measured; most called first."""
    model = device.spec.name
    sources = (TimeSource.MEASURED, device.time_source)
    known = {best.problem.key for best in db.bests(operator.name, model) if best.time_source in sources}
    called = [operator.problem_type.from_dict(call.problem) for call in untuned_calls(operator.name, model)]
    return [problem for problem in called if problem.key not in known]
