"""Which schedule serves a problem: its own record, the nearest one, the time model's choice, or the default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.states import TimeSource
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .modelled import preferred
from .records import Record
from .rule import Rule
from .transfer import alike, comparable, distance, loss, slowness, transferred_seconds

_RECORDS_TRIED = 2
RECORD_TIE = 1.03  # up to this ratio of modelled times, a record that is alike is trusted more than the model


@dataclass(frozen=True)
class Choice:
    """A schedule that may serve a problem.

    Attributes:
        rule: by which it may serve.
        schedule: how to compute the problem.
        record: the key of the record's problem; None by the rules `MODEL` and `DEFAULT`.
        time_source: of the record.
        distance: of a record, see `transfer.distance`; of the model's schedule, ln(modelled time / roofline). None for
            the default, and for what cannot serve.
        seconds: predicted time; for an exact record, its own.
        loss: share of the predicted time that is lost by running less efficiently than the record on its own problem.
        reason: why it cannot serve here; empty if it can.
        faster_baselines: of an exact record, the baselines that were measured to be faster.
        baseline: by the rule `BASELINE`, the library that serves instead of the schedule.
        modelled: of a record, the modelled time of its schedule for this problem.
        alike: whether a record differs by sizes alone, not by data, or by how many vectors a gemv has.
        unconfirmed: whether the record's schedule emits another program today. Then it serves its own problem as it
            serves others, by the rule `NEAREST`.
        device, differs: of a record by the rule `KIN`, the model that it was measured on, and what this one has more or
            less of.
    """

    rule: Rule
    schedule: Schedule
    record: str | None = None
    time_source: TimeSource | None = None
    distance: float | None = None
    seconds: float | None = None
    loss: float | None = None
    reason: str = ""
    faster_baselines: frozenset[str] = frozenset()
    baseline: str = ""
    modelled: float | None = None
    alike: bool = True
    unconfirmed: bool = False
    device: str = ""
    differs: str = ""

    @property
    def shape_specialized(self) -> Choice:
        """The same, shape-specialised, as after `warm`; of what was measured or locked, it is unchanged."""
        if self.rule in (Rule.LOCK, Rule.BASELINE, Rule.EXACT, Rule.FIRST_CALL):
            return self
        return replace(self, schedule=self.schedule.shape_specialized)

    @property
    def origin(self) -> str:
        """Where the schedule comes from, for people."""
        if self.baseline:
            return self.baseline
        if self.record:
            where = f" on {self.device}" if self.device else ""
            return f"the {'unconfirmed ' * self.unconfirmed}record of {self.record}{where}"
        return f"the {self.rule}'s schedule"


def choices(
    operator: Operator[Any, Any],
    problem: Problem,
    spec: DeviceSpec,
    known: Sequence[Record],
    never_worse_than: str | None = None,
) -> Iterator[Choice]:
    """What may serve, best first and computed one by one: at most two records, the model's schedule, the default.

    The problem's own record comes first. If the baseline `never_worse_than` was faster, that comes before it. A problem
    that is to be served as another one (`Problem.served_as`) gets the schedules of that.
    """
    if (other := problem.served_as) is not None:
        for choice in _own_choices(operator, other, spec, known, None):
            schedule = choice.schedule.shape_generic
            if not operator.violations(problem, schedule, spec):
                yield replace(choice, schedule=schedule)
            elif choice.rule is Rule.DEFAULT:
                yield replace(choice, schedule=operator.default(problem, spec))
        return
    yield from _own_choices(operator, problem, spec, known, never_worse_than)


def _own_choices(
    operator: Operator[Any, Any],
    problem: Problem,
    spec: DeviceSpec,
    known: Sequence[Record],
    never_worse_than: str | None,
) -> Iterator[Choice]:
    serving = [choice for choice in from_records(operator, problem, spec, known) if not choice.reason]
    tried = 0
    if serving and serving[0].rule is Rule.EXACT:
        yield from faster(serving[0], never_worse_than)
        yield serving.pop(0)
        tried = 1
    for choice in in_order(operator, problem, spec, serving):
        tried += choice.record is not None
        if choice.record is None or tried <= _RECORDS_TRIED:
            yield choice


def from_records(
    operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, known: Sequence[Record]
) -> list[Choice]:
    """The problem's own record, and the others of its kind with sizes within a factor of 8, nearest first.

    Those of kin, other models of the device's architecture, are among the others, whatever their problem. A record
    whose schedule is illegal here has a `reason` in place of times, and comes last. Measured records come before
    modelled ones.
    """
    found = [_recorded(operator, problem, spec, record) for record in known if _serves(record, problem)]
    return sorted(found, key=_rank)


def in_order(
    operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, records: Sequence[Choice]
) -> list[Choice]:
    """Records, the model's schedule, and last the default.

    Ranked above the model's schedule: the exact record, records at a shorter distance, and records that are alike and
    that the model gives at most `RECORD_TIE` times its time.
    """
    schedule, seconds = preferred(operator, problem, spec)
    far = slowness(problem, seconds, spec)
    model = Choice(Rule.MODEL, schedule, distance=far, seconds=seconds)

    def first(record: Choice) -> bool:
        if record.rule is Rule.EXACT or record.distance is None or record.modelled is None:
            return record.rule is Rule.EXACT
        return outranks(record.distance, far, record.modelled, seconds, alike=record.alike)

    before: list[Choice] = []
    after: list[Choice] = []
    for record in records:
        (before if first(record) else after).append(record)
    return [*before, model, *after, Choice(Rule.DEFAULT, operator.default(problem, spec))]


def outranks(distance: float, far: float, modelled: float, seconds: float, *, alike: bool) -> bool:
    """Whether a record goes before the model's schedule, also by numbers that an export traces.

    Args:
        distance, far: of the record, and of the model's schedule.
        modelled, seconds: the modelled times of the record's schedule and of the model's.
        alike: see `Choice`.
    """
    return distance <= far or (alike and modelled <= RECORD_TIE * seconds)


def faster(exact: Choice, baseline: str | None) -> Iterator[Choice]:
    """The baseline instead of an exact record, if that was measured to be slower."""
    if baseline in exact.faster_baselines:
        yield replace(exact, rule=Rule.BASELINE, baseline=baseline, seconds=None, loss=None, distance=None)


def _serves(record: Record, problem: Problem) -> bool:
    return comparable(problem, record) and (not record.own_only or record.problem.key == problem.key)


def _recorded(operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, record: Record) -> Choice:
    exact = not record.unconfirmed and record.kin is None and record.problem.key == problem.key
    rule = Rule.KIN if record.kin else Rule.EXACT if exact else Rule.NEAREST
    choice = Choice(
        rule,
        record.schedule,
        record.problem.key,
        record.time_source,
        unconfirmed=record.unconfirmed,
        device=record.kin.name if record.kin else "",
        differs=spec.beside(record.kin) if record.kin else "",
    )
    reason = "; ".join(operator.violations(problem, record.schedule, spec))
    if reason:  # the model knows no time of what cannot be computed
        return replace(choice, reason=reason)
    modelled = operator.forecast(problem, record.schedule, spec).seconds
    seconds = transferred_seconds(operator, problem, record, spec, modelled)
    return replace(
        choice,
        distance=distance(problem, record, spec, seconds),
        seconds=seconds,
        loss=loss(problem, record, spec, seconds),
        faster_baselines=record.faster_baselines if exact else frozenset(),
        modelled=modelled,
        alike=alike(problem, record),
    )


def _rank(choice: Choice) -> tuple[bool, bool, float, str]:
    modelled = choice.time_source is TimeSource.MODELLED
    far = inf if choice.distance is None else choice.distance
    return modelled, choice.rule is not Rule.EXACT, far, choice.record or ""
