"""What ``autotune bench dispatch`` measured, as tables and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune.search_spaces.machine.rates import duration

from .output import print_table

if TYPE_CHECKING:
    from autotune.bench.dispatch.held_out import HeldOut
    from autotune.bench.dispatch.random_sizes import RandomSize
    from autotune.devices.base import Device
    from autotune.dispatcher.choice.choose import Choice
    from autotune.search_spaces.contract.operator import Operator


_Loss = tuple["Choice", float | None, float | None]  # the loss of a choice as it is, and shape-specialised


class DispatchCosts(NamedTuple):
    """What was measured.

    Attributes:
        operator, device: of what, and where.
        overheads: seconds of a call by contender.
        first_call: seconds by part.
        held_out: cases of the splits.
        random: problems of random sizes, those that were measured first.
    """

    operator: Operator[Any, Any]
    device: Device
    overheads: Mapping[str, float]
    first_call: Mapping[str, float]
    held_out: Sequence[HeldOut]
    random: Sequence[RandomSize]


def print_costs(costs: DispatchCosts) -> None:
    """A table of each, for people."""
    if costs.overheads:
        _print_overheads(costs.overheads)
    if costs.first_call:
        _print_first_call(costs.first_call)
    where = f"on {costs.device.spec.name}, {costs.device.time_source}"
    splits = len({case.split for case in costs.held_out})
    title = f"{costs.operator.name}: {splits} thirds held out {where}"
    _print_losses(title, "regret", [(case.choice, case.regret, case.warmed) for case in costs.held_out])
    if costs.random:
        tried = [case for case in costs.random if case.loss is not None or case.error]
        title = f"{costs.operator.name}: {len(costs.random)} random sizes, {len(tried)} of them tried {where}"
        _print_losses(title, "loss", [(case.choice, case.loss, case.warmed) for case in costs.random])
    failed = [(case.record.problem, case.error) for case in costs.held_out]
    for problem, error in [*failed, *((case.problem, case.error) for case in costs.random)]:
        if error:
            print(f"failed: {problem.key}: {error}", file=sys.stderr)


def document(costs: DispatchCosts) -> dict[str, Any]:
    """The same as JSON values; docs/benchmarks.md says what each member is."""
    return {
        "operator": costs.operator.name,
        "device": costs.device.spec.name,
        "time_source": costs.device.time_source,
        "environment": dict(costs.device.environment),
        "overheads": dict(costs.overheads),
        "first_call": dict(costs.first_call),
        "regret": _figures(case.regret for case in costs.held_out),
        "regret_warmed": _figures(case.warmed for case in costs.held_out),
        "cases": [
            {
                "split": case.split,
                **_case(case.record.problem.key, case.choice, case.error),
                "regret": case.regret,
                "warmed": case.warmed,
            }
            for case in costs.held_out
        ],
        "random_loss": _figures(case.loss for case in costs.random),
        "random_loss_warmed": _figures(case.warmed for case in costs.random),
        "random": [
            {
                **_case(case.problem.key, case.choice, case.error),
                "rivals": len(case.rivals),
                "loss": case.loss,
                "warmed": case.warmed,
            }
            for case in costs.random
        ],
    }


def _case(problem: str, choice: Choice, error: str) -> dict[str, Any]:
    return {
        "problem": problem,
        "rule": choice.rule,
        "record": choice.record,
        "distance": choice.distance,
        "error": error,
    }


def _print_overheads(overheads: Mapping[str, float]) -> None:
    first = next(iter(overheads))
    rows = [(name, duration(seconds), f"{seconds / overheads[first]:.2f}×") for name, seconds in overheads.items()]
    print_table("A call from Python to the launch", ("call", "median", f"of {first}"), rows)


def _print_first_call(parts: Mapping[str, float]) -> None:
    from autotune.bench.dispatch.process_start import own_seconds

    rows = [*parts.items(), ("all but CUDA's own", own_seconds(parts))]
    print_table("The first call of a process", ("part", "time"), [(name, duration(time)) for name, time in rows])


def _print_losses(title: str, what: str, cases: Sequence[_Loss]) -> None:
    if not cases:  # interrupted before the first
        return
    rules = dict.fromkeys(choice.rule for choice, *_ in cases)
    groups = {str(rule): [case for case in cases if case[0].rule is rule] for rule in rules} | {"all": cases}
    columns = ("rule", "cases", f"median {what}", "95th percentile", "largest", "warmed", "95th percentile", "largest")
    print_table(title, columns, [(name, len(group), *_percents(group)) for name, group in groups.items()])


def _percents(cases: Sequence[_Loss]) -> list[str]:
    figures = (_figures(losses) for losses in list(zip(*cases, strict=True))[1:])
    return [f"{value:.1%}" for found in figures for value in found.values()]


def _figures(losses: Iterable[float | None]) -> dict[str, float]:
    found = [loss for loss in losses if loss is not None]
    if not found:
        return {}
    percentile = quantiles(found, n=20, method="inclusive")[-1] if len(found) > 1 else found[0]
    return {"median": median(found), "percentile_95": percentile, "largest": max(found)}
