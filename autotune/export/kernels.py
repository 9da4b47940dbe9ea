"""What is known of an exported schedule for any sizes: its time if it is legal, its kernel and its launches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from ..codegen.problem import Problem
from ..codegen.program import Argument, Program
from ..codegen.schedule import Schedule
from ..devices.roofline import roofline
from ..devices.time_model import modelled_seconds
from ..dispatcher.choice.choose import Choice, choices
from ..search_spaces.device_spec import DeviceSpec
from .bundle import Bundle
from .expressions import MARK, Condition, Expression, Pool, TraceError
from .trace import Branch, Leaf, Tree, leaves, traced


@dataclass(frozen=True)
class Kernel:
    """A schedule and what becomes of it.

    Attributes:
        schedule: the schedule.
        seconds: modelled; None where the schedule is not legal.
        program: what is launched; None where it is not exported.
        records_only: whether it is exported for the sizes of records alone.
    """

    schedule: Schedule
    seconds: Tree[Any]
    program: Tree[Any]  # of Program | None
    records_only: bool


@dataclass(frozen=True)
class Kernels:
    """All that is exported.

    Attributes:
        bundle: what was asked for.
        sizes: the sizes that calls name, by name.
        problem_sizes: those of their problem, which may state them otherwise, as one long row instead of several.
        kernels: in the order of `Bundle.all_schedules`.
        least_seconds: of a problem, by the roofline.
    """

    bundle: Bundle
    sizes: dict[str, Expression]
    problem_sizes: tuple[Any, ...]
    kernels: tuple[Kernel, ...]
    least_seconds: Tree[Any]

    def choice(self, problem: Problem) -> Choice | None:
        """What the dispatcher takes if there are no other schedules and records, as C++ does; None if none is legal."""
        bundle, own_only = self.bundle, {one.schedule for one in self.kernels if one.records_only}
        recorded = problem.key in {record.problem.key for record in bundle.records}

        def constraints(problem: Problem, schedule: Schedule, limits: DeviceSpec) -> list[str]:
            lacking = [] if recorded or schedule not in own_only else ["exported for the sizes of records alone"]
            return [*bundle.operator.constraints(problem, schedule, limits), *lacking]

        operator = replace(
            bundle.operator,
            constraints=constraints,
            candidates=lambda problem, limits: bundle.schedules,
            default=lambda problem, limits: bundle.schedules[-1],
        )
        if not operator.seeds(problem, bundle.limits):
            return None
        return next(choices(operator, problem, bundle.limits, bundle.records))

    @cached_property
    def programs(self) -> dict[str, Program]:
        """A program of each source, by the digest of the source; its launches are of some size."""
        return {program.source_digest: program for program in self._programs()}

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The members of ``struct Arguments``, which all programs have; values are of some size.

        Raises:
            TraceError: programs differ, or have what C++ does not encode.
        """
        found = [program.arguments for program in self._programs()]
        if len({tuple((one.name, one.cuda_type) for one in arguments) for arguments in found}) > 1:
            raise TraceError("programs with different arguments are not exported")
        if any(one.tensor_map is not None for one in found[0]):
            raise TraceError("programs with tensor maps are not exported")
        return found[0]

    def _programs(self) -> Iterator[Program]:
        return (program for kernel in self.kernels for program in leaves(kernel.program) if program is not None)


def kernels_of(bundle: Bundle) -> Kernels:
    """Trace what the operator, the device and the time model say of each schedule.

    Raises:
        TraceError: what they say cannot be said in C++.
    """
    pool = Pool()
    sizes = {name: pool.size(name, 1, most) for name, most in bundle.most.items()}

    def seconds(schedule: Schedule) -> Any:
        problem = bundle.problem(sizes)
        if bundle.operator.violations(problem, schedule, bundle.limits):
            return None
        return modelled_seconds(bundle.operator, problem, schedule, bundle.limits)

    problems = [problem for problem in leaves(traced(pool, lambda: bundle.problem(sizes))) if problem is not None]
    stated = [tuple(bundle.sizes(problem).values()) for problem in problems]
    if any(one != stated[0] for one in stated):
        raise TraceError("problems whose sizes depend on conditions are not exported")
    kernels = []
    for schedule in bundle.all_schedules:
        program = _program(pool, bundle, sizes, schedule)
        times = traced(pool, partial(seconds, schedule))
        kernels.append(Kernel(schedule, times, program or _of_records(bundle, stated[0], schedule), program is None))
    least = traced(pool, lambda: roofline(bundle.problem(sizes), bundle.limits))
    return Kernels(bundle, sizes, stated[0], tuple(kernels), least)


def _program(
    pool: Pool, bundle: Bundle, sizes: dict[str, Expression], schedule: Schedule
) -> Tree[Program | None] | None:
    """The program of a schedule that may serve any size; None of others, and if its source holds sizes."""
    if schedule not in bundle.schedules:
        return None
    try:
        tree = traced(pool, lambda: bundle.operator.emit(bundle.problem(sizes), schedule))
    except TraceError:
        return None
    return None if any(program and MARK in program.code for program in leaves(tree)) else tree


def _of_records(bundle: Bundle, sizes: tuple[Any, ...], schedule: Schedule) -> Tree[Program | None]:
    """The programs of a schedule for the sizes of the records, as far as it is legal there."""
    found: Tree[Program | None] = Leaf(None)
    for problem in dict.fromkeys(record.problem for record in bundle.records):
        if not bundle.operator.violations(problem, schedule, bundle.limits):
            pairs = zip(sizes, bundle.sizes(problem).values(), strict=True)
            here = tuple(Condition("==", size, value) for size, value in pairs if isinstance(size, Expression))
            found = Branch(here, Leaf(bundle.operator.emit(problem, schedule)), found)
    return found
