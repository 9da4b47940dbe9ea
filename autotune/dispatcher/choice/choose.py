"""Which schedule serves a problem: its own record, the nearest one, what the time model prefers, or the default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from ...codegen.problem import Problem
from ...codegen.schedule import Schedule
from ...db.states import TimeSource
from ...devices.time_model import modelled_seconds
from ...search_spaces.device_spec import DeviceSpec
from ...search_spaces.operator import Operator
from .modelled import preferred
from .records import Record
from .transfer import comparable, distance, loss, slowness, transferred_seconds

_RECORDS_TRIED = 2
RECORD_TIE = 1.03  # ratio of modelled times up to which a schedule that was the best nearby is believed to be better


class Rule(StrEnum):
    """Why a schedule is chosen, the first one first."""

    BASELINE = "baseline"
    EXACT = "exact"
    NEAREST = "nearest"
    MODEL = "model"
    DEFAULT = "default"


@dataclass(frozen=True)
class Choice:
    """A schedule that may serve a problem.

    Attributes:
        rule: which one names it.
        schedule: how to compute the problem.
        record: the key of the problem whose record it is; None by the rules that need none.
        time_source: of that record.
        distance: from the record to the problem, see `transfer.distance`; of the model's schedule, the logarithm of its
            time over the roofline's. None of the default.
        seconds: predicted time; that of an exact record is its own.
        loss: share of this time that is lost by running less efficiently than the record on its own problem.
        reason: why it cannot serve here; empty if it can.
        beaten_by: baselines that are known to be faster, of an exact record.
        baseline: the one that serves in place of the schedule, by the rule of this name.
        modelled: the schedule's time by the model alone, of a record.
    """

    rule: Rule
    schedule: Schedule
    record: str | None = None
    time_source: TimeSource | None = None
    distance: float | None = None
    seconds: float | None = None
    loss: float | None = None
    reason: str = ""
    beaten_by: frozenset[str] = frozenset()
    baseline: str = ""
    modelled: float | None = None

    @property
    def for_one_shape(self) -> Choice:
        """The same with a kernel for the problem's shape alone, for whom compiles ahead; a record of its own stays."""
        if self.rule in (Rule.BASELINE, Rule.EXACT):
            return self
        return replace(self, schedule=self.schedule.for_one_shape)

    @property
    def origin(self) -> str:
        """Where the schedule comes from, for people."""
        if self.baseline:
            return self.baseline
        return f"the record of {self.record}" if self.record else f"the {self.rule}'s schedule"


def choices(
    operator: Operator[Any, Any],
    problem: Problem,
    limits: DeviceSpec,
    known: Sequence[Record],
    never_worse_than: str | None = None,
) -> Iterator[Choice]:
    """What may serve, best first and found out one by one: two records at most, the model's, the default.

    The problem's own record goes first, or the baseline that is named and known to be faster than that.
    """
    serving = [choice for choice in from_records(operator, problem, limits, known) if not choice.reason]
    tried = 0
    if serving and serving[0].rule is Rule.EXACT:
        yield from faster(serving[0], never_worse_than)
        yield serving.pop(0)
        tried = 1
    for choice in in_order(operator, problem, limits, serving):
        tried += choice.record is not None
        if choice.record is None or tried <= _RECORDS_TRIED:
            yield choice


def from_records(
    operator: Operator[Any, Any], problem: Problem, limits: DeviceSpec, known: Sequence[Record]
) -> list[Choice]:
    """The problem's own record and all others of its kind and of sizes within a factor of 8, nearest first.

    Legality is told, too. No modelled record goes before a measured one. A record is found by its problem's key alone:
    that a problem has its own changes nothing for any other, to which it is one neighbour among many.
    """
    found = [_recorded(operator, problem, limits, record) for record in known if _serves(record, problem)]
    return sorted(found, key=_rank)


def in_order(
    operator: Operator[Any, Any], problem: Problem, limits: DeviceSpec, records: Sequence[Choice]
) -> list[Choice]:
    """Records, nearest first, and what serves without one: the model's schedule, and the default, which is last.

    Before the model's go the problem's own record, those that promise more by their times, and those of which the model
    promises about as much.
    """
    schedule, seconds = preferred(operator, problem, limits)
    far = slowness(problem, seconds, limits)
    model = Choice(Rule.MODEL, schedule, distance=far, seconds=seconds)

    def first(record: Choice) -> bool:
        if record.rule is Rule.EXACT or (record.distance is not None and record.distance <= far):
            return True
        return not record.reason and record.modelled is not None and record.modelled <= RECORD_TIE * seconds

    before: list[Choice] = []
    after: list[Choice] = []
    for record in records:
        (before if first(record) else after).append(record)
    return [*before, model, *after, Choice(Rule.DEFAULT, operator.default(problem, limits))]


def faster(exact: Choice, baseline: str | None) -> Iterator[Choice]:
    """The baseline in place of an exact record, if that is known to be slower."""
    if baseline in exact.beaten_by:
        yield replace(exact, rule=Rule.BASELINE, baseline=baseline, seconds=None, loss=None, distance=None)


def _serves(record: Record, problem: Problem) -> bool:
    return comparable(problem, record) and (record.problem.key == problem.key or not record.own_only)


def _recorded(operator: Operator[Any, Any], problem: Problem, limits: DeviceSpec, record: Record) -> Choice:
    exact = record.problem.key == problem.key
    modelled = modelled_seconds(operator, problem, record.schedule, limits)
    seconds = transferred_seconds(operator, record, limits, modelled)
    return Choice(
        Rule.EXACT if exact else Rule.NEAREST,
        record.schedule,
        record.problem.key,
        record.time_source,
        distance(problem, record, limits, seconds),
        seconds,
        loss(problem, record, limits, seconds),
        "; ".join(operator.violations(problem, record.schedule, limits)),
        record.beaten_by if exact else frozenset(),
        modelled=modelled,
    )


def _rank(choice: Choice) -> tuple[bool, bool, float, str]:
    modelled = choice.time_source is TimeSource.MODELLED
    return modelled, choice.rule is not Rule.EXACT, choice.distance or 0.0, choice.record or ""
