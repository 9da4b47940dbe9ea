"""The schedule that autotune enters into a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune.base.log import logger
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import compiler_version
from autotune.db.freshness import changed_program
from autotune.db.states import TimeSource
from autotune.dispatcher.choice.formulation import KnownRecords, formulation_of
from autotune.dispatcher.choice.records import read_records
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec

if TYPE_CHECKING:
    from autotune.db import Trial, TuningDB


class OwnSchedule(NamedTuple):
    """A schedule, and where it comes from.

    Attributes:
        schedule: of the problem's operator, or of the one that restates it.
        record: the measured one that the schedule is from.
        restated: the problem as another operator's, if the schedule is of that one.
        rule: without a record, the rule by which the dispatcher chooses it.
    """

    schedule: Schedule
    record: Trial | None = None
    restated: EquivalentProblem | None = None
    rule: str = ""

    @property
    def seconds(self) -> float:
        """Those of the record; without one infinite."""
        return inf if self.record is None or self.record.seconds is None else self.record.seconds

    @property
    def recorded(self) -> bool:
        """Whether there is a record."""
        return self.record is not None

    @property
    def source(self) -> str:
        """``record``, the operator whose record serves in place of the problem's own, or the dispatcher's rule."""
        if self.recorded:
            return self.restated.operator if self.restated else "record"
        return self.rule

    def program(self, operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec) -> Program:
        """The program of the operator's problem, which takes its tensors and scalars by their names."""
        if self.restated is None:
            return operator.program(problem, self.schedule, spec)
        by = registered(self.restated.operator)
        program = by.program(self.restated.problem, self.schedule, spec)
        names = {there: here for here, there in self.restated.pointers.items()}
        lacking = {name: value for name, value in by.default_scalars.items() if name not in problem.scalars}
        if not program.plain:
            return program.taking(**names, **lacking)
        fixed = (replace(one, value=lacking.get(one.name, one.value)) for one in program.arguments)
        return replace(program, arguments=tuple(_renamed(one, names) for one in fixed))


def _renamed(argument: Argument, names: Mapping[str, str]) -> Argument:
    """The argument with its tensor's other name, also where a map describes it."""
    described = argument.tensor_map
    if described:
        described = replace(described, tensor=names.get(described.tensor, described.tensor))
    return replace(argument, name=names.get(argument.name, argument.name), tensor_map=described)


def find_own_schedule(
    operator: Operator[Any, Any],
    problem: Problem,
    spec: DeviceSpec,
    database: TuningDB,
    known: KnownRecords | None = None,
) -> OwnSchedule:
    """The best measured record of the problem on this device model; without one, what the dispatcher would choose.

    A record whose schedule emits another program today is none: the dispatcher lets the time model compete with it.
    If the problem is another operator's, too, the faster of both records. `known` gives the records of an operator that
    the dispatcher chooses by; without it they are read, which takes as long as all else.
    """
    own = _recorded(operator, problem, spec, database)
    restated = operator.restated(problem) if operator.restated and not problem.empty else None
    if restated:
        other = _recorded(registered(restated.operator), restated.problem, spec, database)
        if other and (own is None or other.seconds < own.seconds):
            logger.info("%s %s: a record of %s serves", operator.name, problem.key, restated.operator)
            return other._replace(restated=restated)
    if own is None:
        return _dispatched(operator, problem, spec, known or (lambda one: read_records(one, spec, database)))
    logger.info("%s %s: its record serves", operator.name, problem.key)
    return own


def _dispatched(operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, known: KnownRecords) -> OwnSchedule:
    """What a call gets that finds no kernel compiled ahead."""
    stated = formulation_of(operator, problem, spec, known)
    choice = next(stated.choices)
    restated = operator.restated(problem) if operator.restated and stated.operator is not operator else None
    logger.info("%s %s: %s serves", operator.name, problem.key, choice.origin)
    return OwnSchedule(choice.schedule, restated=restated, rule=choice.rule)


def _recorded(
    operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, database: TuningDB
) -> OwnSchedule | None:
    best = database.best(operator.name, problem.key, spec.name, compiler_version())
    if best is not None and best.time_source is TimeSource.MEASURED and not changed_program(best):
        with suppress(ValueError):  # a record of another version
            schedule = operator.schedule(best.schedule)
            if not operator.violations(problem, schedule, spec):
                return OwnSchedule(schedule, best)
    return None
