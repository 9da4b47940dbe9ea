"""What is exported: the records of some problems, and the schedules that serve their sizes and others."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.states import TimeSource
from autotune.dispatcher.choice.choose import choices
from autotune.dispatcher.choice.records import Record
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

_PRIME = 1021  # larger than most tiles, none of which divides it
_MOST = 2**20  # the most that a size is, unless a problem is nearly as large
_BEYOND = 8  # times the largest size of a problem are served
_USUAL = 2**15  # most of the sizes that are drawn are below
_EDGES = (1, 2, 4, 8, 24, 33, 100, 1022, 4096)


@dataclass(frozen=True)
class Bundle:
    """What a folder holds.

    Attributes:
        operator, spec: of which, and for which device.
        fixed: the fields that all problems share, but layouts, which are dense.
        least, most: for each size that calls name, from what to what it is served. The least is 0, which stands for
            another size or for none, if a problem has it, else 1.
        problems: what was asked for.
        records: sorted by key, those of one problem best first.
        schedules: what may serve any size, in the order in which ties are decided; the last one is the default.
    """

    operator: Operator[Any, Any]
    spec: DeviceSpec
    fixed: Mapping[str, Any]
    least: Mapping[str, int]
    most: Mapping[str, int]
    problems: tuple[Problem, ...]
    records: tuple[Record, ...]
    schedules: tuple[Schedule, ...]

    @property
    def all_schedules(self) -> tuple[Schedule, ...]:
        """`schedules`, then those that serve the sizes of their own records only."""
        return tuple(dict.fromkeys([*self.schedules, *(record.schedule for record in self.records)]))

    def problem(self, sizes: Mapping[str, Any]) -> Any:
        """The problem of some sizes, which may be traced."""
        return self.operator.problem_type(**self.fixed, **sizes)

    def sizes(self, problem: Problem) -> dict[str, int]:
        """The sizes of a problem that calls name."""
        return {name: getattr(problem, name) for name in self.most}

    def fitted(self, sizes: Mapping[str, int]) -> dict[str, int] | None:
        """Sizes that were drawn one by one, made to go together, if they are served then."""
        fitted = self.operator.problem_type.fitted({**self.fixed, **sizes})
        found = {name: fitted[name] for name in self.most}
        try:
            self.problem(found)
        except ValueError:
            return None
        return found if all(self.least[name] <= found[name] <= most for name, most in self.most.items()) else None

    def drawn_sizes(self, count: int, seed: int) -> Iterator[dict[str, int]]:
        """Sizes of all orders, in whole tiles, and near those of the problems, made to fit; none is a problem's own."""
        draw, own = random.Random(seed), [self.sizes(problem) for problem in self.problems]
        while count:
            kind, near = draw.random(), draw.choice(own)
            most = {name: min(one, _USUAL) if kind > 0.1 else one for name, one in self.most.items()}
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
            found = self.fitted({name: max(self.least[name], min(most[name], one)) for name, one in sizes.items()})
            if found and found not in own:
                count -= 1
                yield found


def bundle_of(
    operator: Operator[Any, Any], problems: Sequence[Problem], spec: DeviceSpec, known: Iterable[Record]
) -> Bundle:
    """The records of these problems that are legal; of problems without one, the schedule that would serve them.

    Modelled records count only if none was measured.

    Raises:
        ValueError: problems of several kinds, gaps in operands, or little alignment.
    """
    first, keys = problems[0], {problem.key for problem in problems}
    specs = field_specs(operator.problem_type)
    kinds = {name: getattr(first, name) for name, one in specs.items() if one.role in (FieldRole.KIND, FieldRole.DATA)}
    sizes = {
        name: [getattr(one, name) for one in problems] for name, one in specs.items() if one.role is FieldRole.SIZE
    }
    for problem in problems:
        dense = operator.problem_type(**kinds, **{name: getattr(problem, name) for name in sizes})
        if problem != dense:
            raise ValueError(
                f"{problem.key}: expected {dense.key}, "
                f"of the kind of {first.key} with dense operands aligned to 16 bytes"
            )
    implied = {name: values[0] for name, values in sizes.items() if set(values) == {specs[name].implied}}
    called = {name: values for name, values in sizes.items() if name not in implied}
    least = {name: min(1, *values) for name, values in called.items()}
    most = {name: specs[name].clamped(max(_MOST, _BEYOND * max(values))) for name, values in called.items()}
    asked = (one for one in known if one.problem.key in keys)
    legal = [one for one in asked if not operator.violations(one.problem, one.schedule, spec)]
    measured = [one for one in legal if one.time_source is TimeSource.MEASURED]
    records = tuple(sorted(measured or legal, key=lambda one: one.problem.key))
    lacking = (problem for problem in problems if problem.key not in {record.problem.key for record in records})
    schedules = [
        *(record.schedule for record in records if not record.own_only),
        *(next(choices(operator, problem, spec, records)).schedule.shape_generic for problem in lacking),
    ]
    bundle = Bundle(operator, spec, kinds | implied, least, most, tuple(problems), records, ())
    odd = ({name: largest - 1 for name, largest in most.items()}, dict.fromkeys(most, _PRIME))
    defaults = [bundle.sizes(first), *filter(None, map(bundle.fitted, odd))][-len(odd) :]
    general = [operator.default(bundle.problem(one), spec).shape_generic for one in defaults]
    ordered = dict.fromkeys(one for one in [*schedules, *general] if one != general[-1])
    return replace(bundle, schedules=(*ordered, general[-1]))
