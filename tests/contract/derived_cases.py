"""The cases of an operator that states none, or not all: problems by its type's fields, schedules from its space."""

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import chain, combinations_with_replacement, islice
from math import prod
from random import Random
from typing import Any

from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.codegen.model.integers import round_up
from autotune.contract.pair_coverage import covering
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
_DRAWN, _TILED = 5, 3  # cases drawn for each that is taken; sizes tried of each
_SIZES = (1, 2, 7, 31, 64, 97, 256, 513, 1024, 2050)
_BYTES, _PER_BYTE, _THREADS = 2**16, 16, 2**11  # operations of a byte: the emulator walks through all of them


@dataclass(frozen=True)
class DerivedCases:
    """See `OperatorCases`; `most` cases of those that are drawn."""

    operator: Operator[Any, Any]
    most: int = 10

    @cached_property
    def PROBLEMS(self):  # noqa: N802 - as a module of cases has it
        """Each value of each kind with the sizes of the command line; odd sizes; none of each size, and one."""
        kind = self.operator.problem_type
        odd = [self._examples | dict.fromkeys(self._examples, number) for number in (1, 1021)]
        none = [dict.fromkeys(self._examples, 5) | {name: 0} for name in self._examples]
        found = [*self._of_each_kind, *(_fitted(kind, sizes) for sizes in (*odd, *none))]
        return {problem.key: problem for problem in found}

    @cached_property
    def SMALL_PROBLEMS(self):  # noqa: N802
        """The check problems of the default schedule, of each value of each kind."""
        found = []
        for problem in self._of_each_kind:
            checks = self.operator.checks(problem, self.operator.default(problem, SPEC))
            found.append([check for check, _ in checks])
        return tuple(dict.fromkeys([found[0][0], *(one for checks in found for one in checks[1:])]))

    @cached_property
    def CASES(self):  # noqa: N802
        """Few that cover most pairs."""
        return covering(self.drawn_cases(_DRAWN * self.most), most=self.most, small=self._has_few_threads)

    def drawn_cases(self, count, spec=SPEC):
        """`count` schedules that are legal on a device, each with an odd problem; always the same ones."""
        random = Random(0)
        return list(islice(self._cases(random, spec), count))

    def _cases(self, random, spec):
        while True:
            problem = _drawn(random, self.operator.problem_type)
            space = self.operator.space(problem, spec)
            for draw in islice(space.random_draws(random.randrange(2**32)), 20):
                schedule = space.build(draw)
                if self.operator.violations(problem, schedule, spec):
                    continue
                tiled = ((_tiled(random, problem, schedule), schedule) for _ in range(_TILED))
                others = ((problem, schedule), *self.operator.checks(problem, schedule))
                tried = chain(tiled, others) if random.random() < 0.5 else random.sample(others, len(others))
                if case := next((case for case in tried if self._small(*case, spec)), None):
                    yield case
                    break

    def _small(self, problem, schedule, spec):
        """Whether a case is legal, and takes the emulator few steps."""
        steps = max(sum(one.bytes for one in problem.tensors), sum(problem.work.operations.values()) / _PER_BYTE)
        return steps <= _BYTES and not self.operator.violations(problem, schedule, spec)

    def _has_few_threads(self, problem, schedule):
        return all(one.threads * one.blocks <= _THREADS for one in self.operator.emit(problem, schedule).launches)

    @cached_property
    def _examples(self):
        specs = field_specs(self.operator.problem_type).items()
        return {name: spec.example for name, spec in specs if spec.role is FieldRole.SIZE and spec.implied is None}

    @cached_property
    def _of_each_kind(self):
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


def _values(problem_type, name, spec):
    """What a kind may be, its default first."""
    default = problem_type.__dataclass_fields__[name].default
    known = spec.allowed or ((False, True) if isinstance(default, bool) else ())
    if not known and isinstance(default, Enum):
        known = tuple(type(default))
    return tuple(dict.fromkeys((default, *known)))


def _fitted(problem_type, fields):
    return problem_type(**problem_type.fitted(fields))


def _tiled(random, problem, schedule):
    """The problem with sizes of whole tiles, or a little more or less: numbers of the schedule and their products."""
    numbers = {1, *(value for value in schedule.to_dict().values() if type(value) is int and value > 0)}
    products = {prod(factors) for factors in combinations_with_replacement(sorted(numbers), 3)}
    tiles = [tile for tile in sorted(products) if tile <= _SIZES[-1]]
    fields = problem.to_dict()
    for name, spec in field_specs(type(problem)).items():
        if spec.role is FieldRole.LAYOUT:
            del fields[name]
        elif spec.role is FieldRole.SIZE and spec.implied is None:
            tile = random.choice(tiles)
            fields[name] = random.choice((tile, 2 * tile, tile + 1, max(1, tile - 1), tile + tile // 2 + 3))
    try:
        return _laid_out(random, type(problem).from_dict(type(problem).fitted(fields)))
    except ValueError:
        return problem


def _drawn(random, problem_type):
    """A problem of any kind and of few elements."""
    specs = field_specs(problem_type)
    while True:
        fields = {}
        for name, spec in specs.items():
            if spec.role is FieldRole.SIZE:
                fields[name] = random.choice(_SIZES if spec.implied is None else (spec.implied, spec.implied, 2, 3))
            elif spec.role is not FieldRole.LAYOUT:
                fields[name] = random.choice(_values(problem_type, name, spec))
        with suppress(ValueError):  # kinds that do not go together
            return _laid_out(random, _fitted(problem_type, fields))


def _laid_out(random, problem):
    """The problem with gaps and with pointers that are aligned to little."""
    for operand, stated in problem.layouts.items():
        aligned = random.choice([bytes_ for bytes_ in (1, 2, 4, 8, 16, 16) if bytes_ >= stated.element_bytes])
        width, last = aligned // stated.element_bytes, len(stated.fields) - 1
        apart = round_up(problem.layouts[operand].shape[-1], width) + width * random.choice((0, 0, 1))
        problem = replace(problem, **stated.spread(last, max(1, apart)) | {stated.alignment_field: aligned})
    return problem if problem.layouts else _less_aligned(random, problem)


def _less_aligned(random, problem):
    """The problem with flat arrays that are aligned to little, where it has fields for that."""
    for tensor in problem.tensors:
        if (name := f"align_{tensor.name}") in field_specs(type(problem)):
            aligned = random.choice([bytes_ for bytes_ in (1, 2, 4, 8, 16, 16) if bytes_ >= tensor.dtype.bytes])
            with suppress(ValueError):  # none that the problem takes
                problem = replace(problem, **{name: aligned})
    return problem
