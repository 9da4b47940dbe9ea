"""Problems that nobody tuned for: random sizes, types and layouts of an operator, the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

from autotune.codegen.model.fields import FieldRole, field_specs
from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.roofline import roofline

from .example_call import problem_of_sizes

_LARGEST = 4  # times the example of a size
# By the roofline: shorter ones tell what a launch costs, longer ones cost more than they tell.
_LEAST_SECONDS, _MOST_SECONDS = 1e-6, 2e-3
_MOST_BYTES = 1 << 30
_SPREAD = 4  # one in so many has an operand whose rows are farther apart than they are long
_PADS = (1, 8, 64)  # elements
_MULTIPLES = (8, 16, 32, 64, 128)
_PATIENCE = 1000  # draws for each problem that is wanted


def likes_of(operator: Operator[Any, Any], known: Sequence[Problem]) -> Sequence[Problem]:
    """The problems whose kinds are drawn: those that are known, without any the operator's usual one."""
    return known or [problem_of_sizes(operator.problem_type, lambda _, field: field.example or 1)]


def random_problems(known: Sequence[Problem], spec: DeviceSpec, count: int, seed: int) -> list[Problem]:
    """Problems of the kinds that other problems have, each kind as often, and of sizes and layouts drawn anew.

    A size is the exponential of a uniform number, from 1 to four times its example, and then as it is and odd, a power
    of two, one beside a power of two, or a multiple of 8, 16, 32, 64 or 128. The rows of one operand
    of every fourth problem are farther apart than they are long. What takes less than 1 µs or more than 2 ms by the
    roofline, or has more than 1 GiB, is drawn anew.

    Args:
        known: an operator's problems, such as those that ship: what users compute, and what libraries can compute, too.
        spec: the device.
        count: how many problems.
        seed: of the random numbers.

    Raises:
        ValueError: no problem is known, or hardly any that is drawn takes as long as stated.
    """
    kinds = list({str(one.kinds): one for one in known if _free(one)}.values())
    if not kinds:
        raise ValueError("no problem is known whose kind could be drawn")
    random = Random(seed)
    drawn: dict[Problem, None] = {}
    for _ in range(_PATIENCE * count):
        if len(drawn) == count:
            break
        with suppress(ValueError):  # sizes or layouts that do not go with each other
            problem = _drawn(random.choice(kinds), random)
            fits = problem.work.bytes <= _MOST_BYTES and _LEAST_SECONDS <= roofline(problem, spec) <= _MOST_SECONDS
            if fits and not problem.empty:
                drawn[problem] = None
    if len(drawn) < count:
        raise ValueError(
            f"{len(drawn)} of {count} problems take from 1 µs to 2 ms by the roofline, and the others less or more"
        )
    return list(drawn)


def _free(problem: Problem) -> bool:
    """Whether no layout but that of operands is stated, such as how rows share a mask, which sizes must go with."""
    operands = {name for layout in problem.layouts.values() for name in (*layout.fields, layout.alignment_field)}
    specs = field_specs(type(problem)).items()
    stated = [name for name, spec in specs if spec.role is FieldRole.LAYOUT and name not in operands]
    return all(getattr(problem, name) in (problem.usual(name), 0) for name in stated)


def _drawn(like: Problem, random: Random) -> Problem:
    """A problem of a kind with other sizes, and perhaps another layout."""
    kind: Any = type(like)
    specs = field_specs(kind)
    sizes = {
        name: _size(_LARGEST * (spec.example or 1), random)
        for name, spec in specs.items()
        if spec.role is FieldRole.SIZE and spec.implied is None
    }
    implied = {name: value for name, value in like.sizes.items() if name not in sizes}
    problem: Problem = kind(**kind.fitted({**like.kinds, **implied, **sizes}))
    if problem.layouts and random.randrange(_SPREAD) == 0:
        operand = random.choice(list(problem.layouts.values()))
        axis = len(operand.strides) - 1
        spread = operand.spread(axis, operand.strides[axis] + random.choice(_PADS))
        problem = replace(problem, **spread)
    return problem


def _size(most: int, random: Random) -> int:
    """A size from 1 to `most`."""
    size = int(most ** random.random())
    power = 1 << (size.bit_length() - 1)
    multiple = random.choice(_MULTIPLES)
    shapes = (size | 1, power, power + random.choice((-1, 1)), -(-size // multiple) * multiple)
    return max(1, random.choice(shapes))
