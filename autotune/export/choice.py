"""Which schedule serves which sizes: what Python chooses, and what it computes to choose."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autotune.codegen.model.integers import logarithm
from autotune.codegen.model.schedule import Schedule
from autotune.dispatcher.choice.choose import choices
from autotune.dispatcher.choice.records import Record
from autotune.dispatcher.choice.transfer import comparable, doubt, transferred_seconds
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .bundle import Bundle
from .formula import Formula
from .terms import Terms, Values
from .trace import Path

_USUAL = 2**15  # most of the sizes that are drawn are below
_NEAREST = -1e9  # of a record of the very problem
_EDGES = (1, 2, 4, 8, 24, 33, 100, 1022, 4096)


def drawn_sizes(bundle: Bundle, count: int, seed: int) -> Iterator[dict[str, int]]:
    """Sizes of all orders, in whole tiles, and near those of the problems, made to fit; none is a problem's own."""
    draw, own = random.Random(seed), [bundle.sizes(problem) for problem in bundle.problems]
    while count:
        kind, near = draw.random(), draw.choice(own)
        most = {name: min(one, _USUAL) if kind > 0.1 else one for name, one in bundle.most.items()}
        if kind < 0.1 and draw.random() < 0.5:  # where conditions turn out otherwise
            sizes = {name: draw.choice(_EDGES) for name in most}
        elif kind < 0.5:
            sizes = {name: int(one ** draw.random()) for name, one in most.items()}
        elif kind < 0.75:
            sizes = {
                name: draw.choice((1, 8, 64, 128)) * int((one / 64) ** draw.random()) for name, one in most.items()
            }
        else:
            sizes = {name: int(near[name] * 4 ** draw.uniform(-1, 1)) for name in most}
        limited = {name: max(1, min(most[name], one)) for name, one in sizes.items()}
        fitted = bundle.operator.problem_type.fitted({**bundle.fixed, **limited})
        found = {name: fitted[name] for name in most}
        if found not in own and bundle.serves(found):
            count -= 1
            yield found


def chosen(
    bundle: Bundle, sizes: Mapping[str, int], serving: Sequence[Schedule], records: Sequence[Record]
) -> Schedule | None:
    """What the dispatcher takes if there are no other schedules and records, if one of the schedules serves."""
    known, general = set(serving), [schedule for schedule in bundle.schedules if schedule in serving]
    if not general:
        return None

    def constraints(problem: Any, schedule: Schedule, spec: DeviceSpec) -> list[str]:
        return [] if schedule in known else ["not exported"]

    only = bundle.operator.with_kernels(constraints=constraints, candidates=lambda problem, spec: iter(general))
    operator = replace(only, default=lambda problem, spec: general[-1])
    return next(choices(operator, bundle.problem(sizes), bundle.spec, records)).schedule


class Rule:
    """What the dispatcher's rule compares, as formulas of rows.

    Attributes:
        seconds: of each schedule, by the time model.
        distances: of each record, in the order in which ties are decided: `distance` and the logarithm of the
            roofline's seconds, which is the same for all records.
    """

    def __init__(self, bundle: Bundle, terms: Terms) -> None:
        operator, spec = bundle.operator, bundle.spec
        bare = operator.with_kernels(constraints=lambda *_: [])

        def formula(compute: Callable[[Any, Any], Any], one: Any) -> Formula[int]:
            def row(path: Path, sizes: Mapping[str, Any]) -> int | None:
                problem = bundle.problem(sizes)
                try:
                    value = compute(problem.served_as or problem, one)
                except TypeError:  # of NumPy, say, which takes no traced sizes: for these sizes alone
                    problem = bundle.problem({name: int(size) for name, size in sizes.items()})
                    value = compute(problem.served_as or problem, one)
                return None if value is None else path.row(value)

            return Formula(terms, row)

        def seconds(problem: Any, schedule: Schedule) -> Any:
            legal = not bare.violations(problem, schedule, spec)
            return modelled_seconds(operator, problem, schedule, spec) if legal else None

        def far(problem: Any, record: Record) -> Any:
            if not comparable(problem, record):
                return None
            apart = doubt(problem, record)
            exact = apart == 0
            if (exact and not record.unconfirmed) or (record.own_only and not exact):
                return _NEAREST if exact else None
            modelled = modelled_seconds(operator, problem, record.schedule, spec)
            return logarithm(transferred_seconds(operator, problem, record, spec, modelled)) + apart

        self.seconds = {schedule: formula(seconds, schedule) for schedule in bundle.all_schedules}
        self.distances = [(record, formula(far, record)) for record in bundle.records]

    def ask(self, sizes: Mapping[str, int], values: Values, serving: Collection[Schedule], *, own: bool) -> None:
        """Find out what is compared for some sizes, of the schedules that serve; see `Formula.at`."""
        distances = (formula for record, formula in self.distances if record.schedule in serving)
        for formula in (*(self.seconds[schedule] for schedule in serving), *distances):
            formula.at(sizes, values, own=own)
