"""By which operator a problem is computed: its own, or another one that computes the same, and faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from autotune.codegen.model.problem import Problem
from autotune.db.states import TimeSource
from autotune.dispatcher.lock.lock import Serving
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .choose import Choice, choices
from .records import Record
from .rule import Rule

KnownRecords = Callable[[Operator[Any, Any]], Sequence[Record]]


class Formulation(NamedTuple):
    """A problem as one operator's, and what may serve it.

    Attributes:
        operator, problem: what is computed.
        choices: see `choose.choices`.
        pointers: if it restates another operator's problem, its tensor for each of that one's.
    """

    operator: Operator[Any, Any]
    problem: Problem
    choices: Iterator[Choice]
    pointers: Mapping[str, str] = MappingProxyType({})


def formulation_of(
    operator: Operator[Any, Any],
    problem: Problem,
    spec: DeviceSpec,
    known: KnownRecords,
    never_worse_than: str | None = None,
) -> Formulation:
    """The formulation of a problem whose first choice promises the shortest time.

    A modelled time does not outrank a measured one.
    """
    own = Formulation(operator, problem, choices(operator, problem, spec, known(operator), never_worse_than))
    restated = operator.restated(problem) if operator.restated else None
    if restated is None or problem.empty:
        return own
    by = registered(restated.operator)
    found = choices(by, restated.problem, spec, known(by))
    here, there = next(own.choices), next(found)
    if _faster(there, here):
        return Formulation(by, restated.problem, chain([there], found), restated.pointers)
    return own._replace(choices=chain([here], own.choices))


def locked_formulation(serving: Serving, spec: DeviceSpec, known: KnownRecords, strict: bool) -> Formulation:
    """The formulation of a problem that a lock says; if it is not strict, other choices follow."""
    locked = serving.locked
    own = Choice(Rule.LOCK, locked.schedule)
    others = iter(()) if strict else choices(locked.operator, locked.problem, spec, known(locked.operator))
    return Formulation(locked.operator, locked.problem, chain([own], others), serving.pointers)


def _faster(one: Choice, other: Choice) -> bool:
    """Whether a choice promises a shorter time than another one, on no less evidence."""
    if other.rule is Rule.BASELINE or (_measured(other) and not _measured(one)):
        return False
    return one.seconds is not None and other.seconds is not None and one.seconds < other.seconds


def _measured(choice: Choice) -> bool:
    return choice.time_source is TimeSource.MEASURED
