"""The cases of an operator that states none, or not all: problems by its type's fields, schedules from its space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from random import Random
from typing import Any

from pair_coverage import covering

from autotune.codegen.model.fields import FieldRole, FieldSpec, field_specs
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
_DRAWN, _MOST = 64, 16
_SIZES = (1, 2, 7, 31, 64, 97, 256, 513, 1024, 2050)
_BYTES, _PER_BYTE, _THREADS = 2**16, 16, 2**12  # operations of a byte: the emulator walks through all of them

Case = tuple[Problem, Schedule]


@dataclass(frozen=True)
class DerivedCases:
    """See `OperatorCases`."""

    operator: Operator[Any, Any]

    @cached_property
    def PROBLEMS(self) -> dict[str, Problem]:  # noqa: N802 - as a module of cases has it
        """Each value of each kind with the sizes of the command line; odd sizes; none of each size, and one."""
        kind = self.operator.problem_type
        odd = [self._examples | dict.fromkeys(self._examples, number) for number in (1, 1021)]
        none = [dict.fromkeys(self._examples, 5) | {name: 0} for name in self._examples]
        found = [*self._of_each_kind, *(_fitted(kind, sizes) for sizes in (*odd, *none))]
        return {problem.key: problem for problem in found}

    @cached_property
    def SMALL_PROBLEMS(self) -> tuple[Problem, ...]:  # noqa: N802
        """The check problems of the default schedule, of each value of each kind."""
        found = []
        for problem in self._of_each_kind:
            checks = self.operator.checks(problem, self.operator.default(problem, SPEC))
            found.append([check for check, _ in checks])
        return tuple(dict.fromkeys([found[0][0], *(one for checks in found for one in checks[1:])]))

    @cached_property
    def CASES(self) -> list[Case]:  # noqa: N802
        """Few that cover most pairs."""
        return covering(self.drawn_cases(_DRAWN), most=_MOST)

    def drawn_cases(self, count: int, spec: DeviceSpec = SPEC) -> list[Case]:
        """`count` schedules that are legal on a device, each with an odd problem; always the same ones."""
        random = Random(0)
        return list(islice(self._cases(random, spec), count))

    def _cases(self, random: Random, spec: DeviceSpec) -> Iterator[Case]:
        while True:
            problem = _drawn(random, self.operator.problem_type)
            space = self.operator.space(problem, spec)
            for draw in islice(space.random_draws(random.randrange(2**32)), 20):
                schedule = space.build(draw)
                if self.operator.violations(problem, schedule, spec):
                    continue
                fitting = [(problem, schedule), *self.operator.checks(problem, schedule)]
                small = [case for case in fitting if not self.operator.violations(*case, spec) and self._small(*case)]
                if small:
                    yield random.choice(small)
                    break

    def _small(self, problem: Problem, schedule: Schedule) -> bool:
        if max(sum(one.bytes for one in problem.tensors), sum(problem.work.operations.values()) / _PER_BYTE) > _BYTES:
            return False
        return all(one.threads * one.blocks <= _THREADS for one in self.operator.emit(problem, schedule).launches)

    @cached_property
    def _examples(self) -> dict[str, Any]:
        specs = field_specs(self.operator.problem_type).items()
        return {name: spec.example for name, spec in specs if spec.role is FieldRole.SIZE and spec.implied is None}

    @cached_property
    def _of_each_kind(self) -> list[Problem]:
        """Defaults, then the other values of all kinds in turn, but for kinds that do not go together."""
        kind, specs = self.operator.problem_type, field_specs(self.operator.problem_type)
        values = [
            [(name, value) for value in _values(kind, name, spec)]
            for name, spec in specs.items()
            if spec.role in (FieldRole.KIND, FieldRole.DATA)
        ]
        found = []
        for turn in range(max(map(len, values), default=1)):
            with suppress(ValueError):
                found.append(_fitted(kind, self._examples | dict(some[turn % len(some)] for some in values)))
        return found


def _values(problem_type: type[Problem], name: str, spec: FieldSpec) -> Sequence[Any]:
    """What a kind may be, its default first."""
    default: Any = problem_type.__dataclass_fields__[name].default
    known = spec.allowed or ((False, True) if isinstance(default, bool) else ())
    if not known and not isinstance(default, int):
        known = tuple(type(default))
    return tuple(dict.fromkeys((default, *known)))


def _fitted(problem_type: type[Problem], fields: dict[str, Any]) -> Problem:
    return problem_type(**problem_type.fitted(fields))


def _drawn(random: Random, problem_type: type[Problem]) -> Problem:
    """A problem of any kind and of few elements, with gaps and pointers that are aligned to little."""
    specs = field_specs(problem_type)
    while True:
        fields = {}
        for name, spec in specs.items():
            if spec.role is FieldRole.SIZE:
                fields[name] = random.choice(_SIZES if spec.implied is None else (spec.implied, spec.implied, 2, 3))
            elif spec.role is not FieldRole.LAYOUT:
                fields[name] = random.choice(_values(problem_type, name, spec))
        with suppress(ValueError):  # kinds that do not go together
            problem: Any = _fitted(problem_type, fields)
            for operand, stated in problem.layouts.items():
                aligned = random.choice([bytes_ for bytes_ in (1, 2, 4, 8, 16, 16) if bytes_ >= stated.element_bytes])
                width, last = aligned // stated.element_bytes, len(stated.fields) - 1
                apart = round_up(problem.layouts[operand].shape[-1], width) + width * random.choice((0, 0, 1))
                changed = stated.spread(last, max(1, apart)) | {stated.alignment_field: aligned}
                problem = replace(problem, **changed)
            return problem
