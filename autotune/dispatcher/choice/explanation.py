"""Why a problem gets the schedule that it gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.devices.select import selected_spec
from autotune.dispatcher.settings import lock_in_force, settings
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .choose import Choice, faster, from_records, in_order
from .formulation import KnownRecords, formulation_of
from .records import Record, records
from .rule import Rule


@dataclass(frozen=True)
class Explanation:
    """What the dispatcher considers for a problem, in the order in which it goes through it.

    Attributes:
        operator: its name.
        problem: what is to be computed.
        spec: the device, whose model's records are looked at.
        considered: records of the problem's layout and about its sizes, those that cannot serve with the reason;
            then what serves without a record.
        served_by: if another operator computes the same, and promises to be faster, its explanation.
    """

    operator: str
    problem: Problem
    spec: DeviceSpec
    considered: tuple[Choice, ...]
    served_by: Explanation | None = None

    @property
    def chosen(self) -> Choice:
        """The operator's first that can serve. Should its kernel not load or not launch, the next one is taken."""
        return next(choice for choice in self.considered if not choice.reason)

    def __str__(self) -> str:
        if self.served_by:
            return f"{self.operator} {self.problem.key}, served by {self.served_by}"
        chosen = self.chosen
        words = [f"{self.operator} {self.problem.key} on {self.spec.name}: {chosen.rule}"]
        if chosen.rule in (Rule.NEAREST, Rule.KIN):
            where = f" on {chosen.device} (here: {chosen.differs or 'alike'})" if chosen.device else ""
            words.append(f"{'unconfirmed ' * chosen.unconfirmed}record {chosen.record}{where}")
            words.append(f"distance {chosen.distance:.2f}")
        if chosen.seconds is not None:
            words.append(f"predicted {chosen.seconds * 1e6:.1f} µs")
        if chosen.loss is not None:
            words.append(f"loss {chosen.loss:.1%}")
        return ", ".join([*words, f"schedule {chosen.schedule}"])


def explain(operator: str, *, device: str = "auto", **fields: int | bool) -> Explanation:
    """Say which schedule a problem would get, by which rule, and what else was considered; nothing is compiled.

    Args:
        operator: such as ``sgemm``.
        device: a GPU's number, an offline device such as ``h200``, or ``auto``: GPU 0 if there is one, else ``h200``.
        fields: the problem's, such as ``m=1000, n=1000, k=1000``.

    Raises:
        ValueError: no such operator, or no such problem.
        DeviceError: no such device.
        LockError: a lock is in force, and says nothing of the problem.
    """
    chosen, spec = registered(operator), selected_spec(device)
    problem = chosen.problem_type.from_dict(fields)
    return explained(chosen, problem, spec, lambda one: records(one, spec), settings.never_worse_than)


def explained(
    operator: Operator[Any, Any],
    problem: Problem,
    spec: DeviceSpec,
    known: KnownRecords,
    never_worse_than: str | None = None,
) -> Explanation:
    """`explain` for what is there already; under a lock, what that says comes first.

    Raises:
        LockError: the lock says nothing of the problem, or cannot be used.
    """
    if lock := lock_in_force():
        locked = lock.serving(operator, problem, spec).locked
        own = Explanation(operator.name, problem, spec, (Choice(Rule.LOCK, locked.schedule),))
        same = locked.operator is operator
        return (
            own if same else replace(own, served_by=replace(own, operator=locked.operator.name, problem=locked.problem))
        )
    own = _explained(operator, problem, spec, known(operator), never_worse_than)
    stated = formulation_of(operator, problem, spec, known, never_worse_than)
    if stated.operator is operator:
        return own
    return replace(own, served_by=_explained(stated.operator, stated.problem, spec, known(stated.operator)))


def _explained(
    operator: Operator[Any, Any],
    problem: Problem,
    spec: DeviceSpec,
    known: Sequence[Record],
    never_worse_than: str | None = None,
) -> Explanation:
    chosen = problem.served_as or problem
    considered = in_order(operator, chosen, spec, from_records(operator, chosen, spec, known))
    if considered[0].rule is Rule.EXACT and not considered[0].reason:
        considered[:0] = faster(considered[0], never_worse_than)
    return Explanation(operator.name, problem, spec, tuple(considered))
