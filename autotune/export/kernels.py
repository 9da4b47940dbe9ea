"""What is known of an exported schedule for any sizes: its time if it is legal, its kernel and its launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.dispatcher.choice.choose import Choice, choices
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.roofline import roofline

from .bundle import Bundle
from .expressions import Condition, Expression, Pool, TraceError, filled, held
from .trace import Branch, Leaf, Tree, holding, leaf_at, leaves, traced, value_at

WORKSPACE = "workspace"


@dataclass(frozen=True)
class Kernel:
    """A schedule and what becomes of it.

    Attributes:
        schedule: the schedule.
        seconds: modelled; None where the schedule is not legal.
        program: what is launched; None where it is not exported.
    """

    schedule: Schedule
    seconds: Tree[Any]
    program: Tree[Program | None]


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
        bundle, programs = self.bundle, {one.schedule: one.program for one in self.kernels}

        def constraints(problem: Problem, schedule: Schedule, spec: DeviceSpec) -> list[str]:
            exported = leaf_at(programs[schedule], bundle.sizes(problem)) is not None
            return [*bundle.operator.constraints(problem, schedule, spec), *([] if exported else ["not exported"])]

        only = bundle.operator.with_kernels(constraints=constraints, candidates=lambda problem, spec: bundle.schedules)
        operator = replace(only, default=lambda problem, spec: bundle.schedules[-1])
        if not operator.seeds(problem, bundle.spec):
            return None
        return next(choices(operator, problem, bundle.spec, bundle.records))

    @cached_property
    def programs(self) -> dict[str, Program]:
        """A program of each source, by the digest of the source; its launches are of some size."""
        return {part.source_digest: part for program in self.whole_programs for part in program.parts}

    @cached_property
    def scalars(self) -> tuple[Argument, ...]:
        """The scalars that a call brings.

        Raises:
            TraceError: programs take one of different types.
        """
        found: dict[str, Argument] = {}
        for one in (one for program in self.whole_programs for one in program.brought if one.scalar):
            if found.setdefault(one.name, one).cuda_type != one.cuda_type:
                raise TraceError(f"{one.name} is {found[one.name].cuda_type} and {one.cuda_type}: expected one type")
        return tuple(found.values())

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """The tensors whose addresses a call brings, in the problem's order, then ``workspace``."""
        tensors = self.bundle.drawn(dict.fromkeys(self.sizes, 1)).tensors
        taken = {name for program in self.whole_programs for name in program.tensor_names}
        return (*(tensor.name for tensor in tensors if tensor.name in taken), WORKSPACE)

    @cached_property
    def whole_programs(self) -> tuple[Program, ...]:
        """All that may be launched."""
        return tuple(one for kernel in self.kernels for one in leaves(kernel.program) if one is not None)


def kernels_of(bundle: Bundle) -> Kernels:
    """Trace what the operator, the device and the time model say of each schedule.

    Raises:
        TraceError: what they say cannot be said in C++.
    """
    pool = Pool()
    sizes = {name: pool.size(name, 1, most) for name, most in bundle.most.items()}

    def seconds(schedule: Schedule) -> Any:
        problem = bundle.problem(sizes)
        if bundle.operator.violations(problem, schedule, bundle.spec):
            return None
        return modelled_seconds(bundle.operator, problem, schedule, bundle.spec)

    problems = [problem for problem in leaves(traced(pool, lambda: bundle.problem(sizes))) if problem is not None]
    stated = [tuple(bundle.sizes(problem).values()) for problem in problems]
    if any(one != stated[0] for one in stated):
        raise TraceError("problems whose sizes depend on conditions are not exported")
    kernels = tuple(
        Kernel(one, traced(pool, partial(seconds, one)), _program(pool, bundle, sizes, one))
        for one in bundle.all_schedules
    )
    least = traced(pool, lambda: roofline(bundle.problem(sizes), bundle.spec))
    return Kernels(bundle, sizes, stated[0], kernels, least)


def _program(pool: Pool, bundle: Bundle, sizes: dict[str, Expression], schedule: Schedule) -> Tree[Program | None]:
    """The program of a schedule; a source that holds values is exported with those of the problems that lead to it."""

    def completed(tree: Tree[Program | None], known: list[dict[str, int]]) -> Tree[Program | None]:
        if isinstance(tree, Branch):
            ways = [[one for one in known if holding(tree.conditions, one) is way] for way in (True, False)]
            return Branch(tree.conditions, completed(tree.yes, ways[0]), completed(tree.no, ways[1]))
        program = tree.value
        values = held(pool, program.code) if program is not None else ()
        if program is None or not values:
            return tree
        found: Tree[Program | None] = Leaf(None)
        for numbers in dict.fromkeys(tuple(value_at(value, one) for value in values) for one in known):
            conditions = tuple(Condition("==", *pair) for pair in zip(values, numbers, strict=True))
            known_values = {value.number: number for value, number in zip(values, numbers, strict=True)}
            found = Branch(conditions, Leaf(_filled(program, known_values)), found)
        return found

    def emitted() -> Program:
        program = bundle.operator.emit(bundle.problem(sizes), schedule)
        return replace(program, steps=program.unrolled)  # here, where conditions on sizes are followed

    tree = traced(pool, emitted)
    own = tuple(record.problem for record in bundle.records if record.schedule == schedule)
    problems = bundle.problems if schedule in bundle.schedules else own
    return completed(tree, [bundle.sizes(problem) for problem in problems])


def _filled(program: Program, values: Mapping[int, int]) -> Program:
    """The program with its code in place of its sources, and numbers in it in place of expressions."""
    first, *others = (replace(module, source=filled(module.code, values)) for module in program.modules)
    return replace(program, source=first.source, others=tuple(others))
