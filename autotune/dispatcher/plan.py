"""What is held for each problem on each device, so that a repeated call only fills in its values and launches."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from ..codegen.problem import Problem
from ..codegen.source import KernelSource
from ..compiler import CompileError
from ..search_spaces.operator import Operator
from .choose import Rule, choices
from .records import records
from .targets import Kernel, LaunchError, Target, target

Values = Mapping[str, float]


@dataclass(frozen=True)
class Plan:
    """A kernel for one problem on one device, ready to launch.

    Attributes:
        kernel: compiled and loaded; it owns its workspace.
        template: packed arguments that lack the pointers and scalars of a call.
    """

    kernel: Kernel
    template: ctypes.Structure

    def launch(self, values: Values, stream: int) -> None:
        """Launch with a call's pointers and scalars, by name.

        Raises:
            LaunchError: see `Kernel.launch`.
        """
        packed = type(self.template).from_buffer_copy(self.template)
        for name, value in values.items():
            setattr(packed, name, value)
        self.kernel.launch(stream, packed)


_plans: dict[tuple[str, Problem, int], Plan] = {}
_creating = Lock()


def launch(operator: Operator[Any, Any], problem: Problem, device: int, values: Values, stream: int) -> None:
    """Compute a problem on a device, by the plan that is held for it or by a new one.

    Args:
        values: the call's pointers and scalars, by their names in the kernel's argument struct.
        stream: the handle of the stream to launch on.

    Raises:
        CompileError, LaunchError: not even the default schedule could be launched.
        DeviceError: there is no usable driver.
    """
    key = (operator.name, problem, device)
    plan = _plans.get(key)
    if plan is None:
        with _creating:
            plan = _plans.get(key)
            if plan is None:
                _plans[key] = _launched(operator, problem, target(device), values, stream)
                return
    plan.launch(values, stream)


def _launched(operator: Operator[Any, Any], problem: Problem, place: Target, values: Values, stream: int) -> Plan:
    """The plan of the first choice that compiles, loads and launches.

    It has been launched: a driver refuses some kernels only then, before they begin.
    """
    known = records(operator, place.limits)
    for choice in choices(operator, problem, place.limits, known):
        try:
            source = operator.source(problem, choice.schedule, place.limits)
            plan = Plan(place.load(problem, source), _template(source))
            plan.launch(values, stream)
        except (CompileError, LaunchError) as error:
            if choice.rule is Rule.DEFAULT:
                raise
            skipped = f"{operator.name} {problem.key}: skipped {choice.origin}: {error}"
            warnings.warn(skipped, RuntimeWarning, stacklevel=2)
        else:
            return plan
    raise AssertionError("the default is the last choice")


def _template(source: KernelSource) -> ctypes.Structure:
    names = [argument.name for argument in source.arguments]
    return source.pack(dict.fromkeys(names, 0), dict.fromkeys(names, 0.0))
