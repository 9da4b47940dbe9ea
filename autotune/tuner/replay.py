"""Running a candidate that failed once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..codegen.problem import Problem
from ..codegen.program import Program
from ..codegen.schedule import Schedule
from ..compile_pool import CompilePool
from ..db.records import Trial
from ..devices.base import Device
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.operator import Operator
from ..search_spaces.registry import operator as registered
from .bundle import Bundle
from .evaluator import Evaluator


@dataclass(frozen=True)
class Candidate:
    """A bundle's problem and schedule, checked, and the source that this generator emits for them."""

    operator: Operator[Any, Any]
    problem: Problem
    schedule: Schedule
    program: Program

    @classmethod
    def of(cls, bundle: Bundle, limits: DeviceSpec) -> Candidate:
        """The candidate of a bundle on a device of these limits.

        Raises:
            ValueError: this version knows no such operator, problem or schedule, or the schedule is not legal there.
        """
        record = bundle.trial.problem
        operator = registered(record.operator)
        problem = operator.problem_type.from_dict(record.fields)
        if problem.key != record.key:
            raise ValueError(f"the problem {record.key!r} has the fields of {problem.key!r}")
        schedule = operator.schedule_type.from_dict(bundle.trial.schedule)
        return cls(operator, problem, schedule, operator.program(problem, schedule, limits))


def replay(bundle: Bundle, device: Device) -> Trial:
    """Compile, verify and time the candidate as the tuner did; nothing is stored.

    Raises:
        ValueError: as `Candidate.of`.
        DeviceError: the device cannot be used.
        CompilerMissingError: there is no compiler.
    """
    candidate = Candidate.of(bundle, device.limits)
    operator, problem = candidate.operator, candidate.problem
    with CompilePool(1) as pool, device.session(operator, problem, bundle.seed) as session:
        evaluator = Evaluator(operator, problem, device, pool, session)
        return evaluator.finish(evaluator.start(candidate.schedule))
