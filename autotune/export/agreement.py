"""How an export's choices compare with the dispatcher's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from autotune.codegen.model.schedule import Schedule
from autotune.dispatcher.choice.choose import choices
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .bundle import Bundle
from .kernels import Kernels


def agreement(exported: Kernels, most: int) -> tuple[float, float]:
    """The share of so many other sizes which C++ serves as the dispatcher chooses, and what its choices lose.

    The loss is a share of the time of the dispatcher's choice, by the time model, in the mean of all sizes; 1 where
    nothing serves. The dispatcher may choose kernels that are not exported.
    """
    asked, bundle = Kernels(exported.bundle), exported.bundle
    same, losses = 0, list[float]()
    for sizes in bundle.drawn_sizes(most, seed=1):
        if best := chosen(bundle, sizes, asked.ask(sizes)):
            found, problem = exported.serving(sizes), bundle.problem(sizes)
            taken = found[0] if found else best
            seconds = [modelled_seconds(bundle.operator, problem, one, bundle.spec) for one in (best, taken)]
            same += found is not None and taken == best
            losses.append(max(0.0, seconds[1] / seconds[0] - 1) if found else 1.0)
    return same / len(losses), sum(losses) / len(losses)


def chosen(bundle: Bundle, sizes: Mapping[str, int], serving: Collection[Schedule]) -> Schedule | None:
    """What the dispatcher takes if there are no other schedules and records, if one of the schedules serves."""
    general = [schedule for schedule in bundle.schedules if schedule in serving]
    if not general:
        return None

    def constraints(problem: Any, schedule: Schedule, spec: DeviceSpec) -> list[str]:
        return [] if schedule in serving else ["not exported"]

    only = bundle.operator.with_kernels(constraints=constraints, candidates=lambda problem, spec: iter(general))
    operator = replace(only, default=lambda problem, spec: general[-1])
    return next(choices(operator, bundle.problem(sizes), bundle.spec, bundle.records)).schedule
