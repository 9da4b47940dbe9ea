"""What is exported: the records of some problems, and the schedules that serve their sizes and all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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


@dataclass(frozen=True)
class Bundle:
    """What a folder holds.

    Attributes:
        operator, spec: of which, and for which device.
        fixed: the fields that all problems share, but layouts, which are dense.
        most: for each size that calls name, up to what it is served; the least is 1.
        problems: what was asked for.
        records: sorted by key, those of one problem best first.
        schedules: what may serve any size, in the order in which ties are decided; the last one is the default.
    """

    operator: Operator[Any, Any]
    spec: DeviceSpec
    fixed: Mapping[str, Any]
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

    def serves(self, sizes: Mapping[str, int]) -> bool:
        """Whether sizes are in range and go together."""
        if not all(1 <= sizes[name] <= most for name, most in self.most.items()):
            return False
        try:
            return bool(self.problem(sizes))
        except ValueError:
            return False

    def drawn(self, sizes: Mapping[str, int]) -> Any:
        """The problem of sizes that were drawn one by one, made to fit."""
        problem_type = self.operator.problem_type
        return problem_type(**problem_type.fitted({**self.fixed, **sizes}))

    def sizes(self, problem: Problem) -> dict[str, int]:
        """The sizes of a problem that calls name."""
        return {name: getattr(problem, name) for name in self.most}


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
    roles = {name: field.role for name, field in specs.items()}
    kinds = {name: getattr(first, name) for name, role in roles.items() if role in (FieldRole.KIND, FieldRole.DATA)}
    sizes = {name: [getattr(one, name) for one in problems] for name, role in roles.items() if role is FieldRole.SIZE}
    for problem in problems:
        dense = operator.problem_type(**kinds, **{name: getattr(problem, name) for name in sizes})
        if problem != dense:
            raise ValueError(
                f"{problem.key}: expected a problem of the kind of {first.key}, of dense operands aligned to 16 bytes"
            )
    implied = {name for name, values in sizes.items() if set(values) == {specs[name].implied}}
    most = {name: _most(values, specs[name].most) for name, values in sizes.items() if name not in implied}
    fixed = kinds | {name: sizes[name][0] for name in implied}
    asked = (one for one in known if one.problem.key in keys)
    legal = [one for one in asked if not operator.violations(one.problem, one.schedule, spec)]
    measured = [one for one in legal if one.time_source is TimeSource.MEASURED]
    records = tuple(sorted(measured or legal, key=lambda one: one.problem.key))
    recorded = {record.problem.key for record in records}
    schedules = [
        *(record.schedule for record in records if not record.own_only),
        *(
            next(choices(operator, problem, spec, records)).schedule.shape_generic
            for problem in problems
            if problem.key not in recorded
        ),
    ]
    bundle = Bundle(operator, spec, fixed, most, tuple(problems), records, ())
    for odd in _odd_sizes(most):
        with suppress(ValueError):  # sizes that do not go together
            schedules.append(operator.default(bundle.drawn(odd), spec).shape_generic)
    last = schedules[-1] if schedules else operator.default(first, spec).shape_generic
    ordered = (one for one in dict.fromkeys(schedules) if one != last)
    return replace(bundle, schedules=(*ordered, last))


def _odd_sizes(most: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Large sizes and smaller ones, which no vector or tile divides."""
    yield {name: largest - 1 for name, largest in most.items()}
    yield dict.fromkeys(most, _PRIME)


def _most(values: Sequence[int], allowed: int | None) -> int:
    most = max(_MOST, _BEYOND * max(values))
    return most if allowed is None else min(most, allowed)
