"""Whether a trial's kernel is the one that would run today, and whether what judged it is what would judge it today."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role
from autotune.search_spaces.contract.generator import vouches
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec

from .states import Status
from .trials import Trial, Tried
from .verdicts import verdict

OTHER_PROGRAM = "unconfirmed: emits another program today"
FROM_OUTSIDE = "killed from outside"
OTHER_JUDGE = "found wrong by another reference or tolerance"
JUDGE = "judge"  # in the environment of a wrong trial
KILLED = "killed"  # in the environment of a crashed trial whose processes were killed from outside
_DIGITS = 16


def changed(
    operator: Operator[Any, Any], problem: Problem, limits: DeviceSpec, schedule: Mapping[str, Any], digest: str
) -> str:
    """Why a schedule does not emit the program of a digest; empty if it does, or if the digest is empty.

    Emitting takes half a millisecond. Nothing else about the generator is compared, so a change of it leaves all
    trials fresh whose programs it does not alter.
    """
    if not digest:
        return ""
    try:
        program = operator.program(problem, operator.schedule(schedule), limits)
    except ValueError as error:
        return f"emits no program today: {error}"
    return "" if program.digest == digest else OTHER_PROGRAM


def emitted(trial: Trial) -> Program:
    """The program that a trial's schedule emits today, with the limits that the trial was made under.

    Raises:
        ValueError: it emits none.
    """
    operator = registered(trial.problem.operator)
    problem = operator.problem_type.from_dict(trial.problem.fields)
    schedule = operator.schedule(trial.schedule)
    return operator.program(problem, schedule, device_spec(trial.device.limits))


def changed_program(trial: Trial) -> str:
    """`changed` for a trial of a registered operator, with the limits that the trial was made under."""
    try:
        operator = registered(trial.problem.operator)
    except ValueError as error:
        return f"emits no program today: {str(error).partition(';')[0]}"
    made = json.dumps([trial.problem.fields, trial.device.limits, trial.schedule])
    if not vouches(operator):
        return _changed_program(operator, made, trial.program_digest)
    asked = f"{operator.name} {made} {trial.program_digest}"
    return verdict(asked, lambda: _changed_program(operator, made, trial.program_digest))


@lru_cache(maxsize=4096)  # each problem of a suite asks for those of all others
def _changed_program(operator: Operator[Any, Any], made: str, digest: str) -> str:
    fields, limits, schedule = json.loads(made)
    try:
        return changed(operator, operator.problem_type.from_dict(fields), device_spec(limits), schedule, digest)
    except ValueError as error:
        return f"emits no program today: {error}"


def judge(operator: Operator[Any, Any], problem: Problem) -> str:
    """A digest of what decides whether a problem's outputs are right: reference kernel, tolerances, and checker.

    The NumPy reference, which the emulator compares with, agrees with the kernel; tests see to that. Without a kernel
    it is what judges.
    """
    tolerances = {tensor.name: tensor.judged for tensor in problem.tensors if tensor.role is not Role.INPUT}
    checker = operator.checker(problem).digest if operator.checker else ""
    reference = operator.reference(problem).digest if operator.reference else operator.reference_digest
    return hashlib.sha256(f"{reference}\n{tolerances}{checker}".encode()).hexdigest()[:_DIGITS]


def misjudged(trial: Trial | Tried, today: Callable[[], str]) -> bool:
    """Whether a trial failed though its kernel may be right.

    It was killed from outside, or found wrong by another `judge` than today's, or by one that it does not tell.
    """
    return KILLED in trial.environment or (trial.status is Status.WRONG and trial.environment.get(JUDGE) != today())


def changed_judge(trial: Trial) -> str:
    """`FROM_OUTSIDE` or `OTHER_JUDGE` for a trial of a registered operator that is `misjudged`; empty for others.

    Raises:
        ValueError: no operator can read its problem.
    """
    if KILLED in trial.environment:
        return FROM_OUTSIDE
    operator = registered(trial.problem.operator)
    problem = operator.problem_type.from_dict(trial.problem.fields)
    return OTHER_JUDGE if misjudged(trial, lambda: judge(operator, problem)) else ""
