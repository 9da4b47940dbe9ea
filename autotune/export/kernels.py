"""The kernels of an export: for which sizes a schedule has which program, and which schedule serves some sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from autotune.codegen.model.argument import WORKSPACE, Argument
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.dispatcher.choice.modelled import TIE

from .bundle import Bundle
from .choice import drawn_sizes, table_of
from .emitted import Emitted
from .plan import Plan
from .terms import Terms, Values
from .trace import TraceError
from .tree import Tree, found, leaves, pruned

SIZES = 8000  # sizes for which Python chooses


@dataclass(frozen=True)
class Kernels:
    """All that is exported.

    Attributes:
        bundle: what was asked for.
        terms: numbers that follow from sizes.
        trees: of each schedule, what it launches where it serves.
        programs: of each plan, as it was emitted for some sizes.
        own: what serves each exported problem.
        stated: the sizes of a problem, as terms of those that a call brings.
        table: what serves other sizes, by numbers among the bundle's schedules, best first.
        drawn: for how many sizes Python chose.
        added: schedules that serve where no other does.
    """

    bundle: Bundle
    terms: Terms
    trees: Mapping[Schedule, Tree[Plan | None] | None]
    programs: Mapping[Plan, Program]
    own: Mapping[Problem, Schedule]
    stated: tuple[str, ...]
    table: Tree[tuple[int, ...]]
    drawn: int
    added: tuple[Schedule, ...]

    def serving(self, sizes: Mapping[str, int]) -> tuple[Schedule, Plan] | None:
        """What serves some sizes, as C++ finds it: the first one whose kernel is exported."""
        values = Values(self.terms, sizes)
        leaf, schedules = found(self.table, values), self.bundle.schedules
        tabled = [schedules[number] for number in leaf.value] if leaf else []
        own = self.own.get(self.bundle.problem(sizes))
        for schedule in (*([own] if own else []), *tabled, *reversed(schedules)):
            plan = found(self.trees[schedule], values)
            if plan and plan.value:
                return schedule, plan.value
        return None

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """All that may be launched."""
        trees = (self.trees[schedule] for schedule in self.bundle.all_schedules)
        return tuple(dict.fromkeys(plan for tree in trees for plan in leaves(tree) if plan))

    @cached_property
    def sources(self) -> dict[str, Program]:
        """A program of each source, by the digest of the source."""
        return {part.source_digest: part for plan in self.plans for part in self.programs[plan].parts}

    @cached_property
    def scalars(self) -> tuple[Argument, ...]:
        """The scalars that a call brings.

        Raises:
            TraceError: programs take one of different types.
        """
        brought: dict[str, Argument] = {}
        for one in (one for plan in self.plans for one in self.programs[plan].brought if one.scalar):
            if brought.setdefault(one.name, one).cuda_type != one.cuda_type:
                raise TraceError(f"{one.name} is {brought[one.name].cuda_type} and {one.cuda_type}: expected one type")
        return tuple(brought.values())

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """The tensors whose addresses a call brings, in the problem's order, then ``workspace``."""
        tensors = self.bundle.problems[0].tensors
        taken = {name for plan in self.plans for name in self.programs[plan].tensor_names}
        return (*(tensor.name for tensor in tensors if tensor.name in taken), WORKSPACE)


def kernels_of(bundle: Bundle, count: int = SIZES) -> Kernels:
    """Ask Python what it chooses for the problems and for so many other sizes, and what it emits.

    Raises:
        TraceError: C++ cannot compute what launches need.
    """
    emitted = Emitted(bundle)
    more = 500 + 4 * count  # cheap: few schedules are asked, which should have a kernel wherever they serve
    emitted.complete(chain([dict.fromkeys(bundle.most, 1)], drawn_sizes(bundle, more, seed=2)))
    bundle = emitted.bundle
    own = {problem: emitted.chosen(bundle.sizes(problem)) for problem in bundle.problems}
    others = [one for sizes in drawn_sizes(bundle, count, seed=0) if (one := emitted.chosen(sizes))]
    if not others:
        raise TraceError("no schedule serves sizes that are drawn")
    trees = {schedule: pruned(tree, lambda plan: plan is not None) for schedule, tree in emitted.trees.items()}
    served = {problem: one.schedule for problem, one in own.items() if one}
    stated = emitted.stated(others[0].sizes)
    if any(emitted.stated(one.sizes) != stated for one in others):
        raise TraceError("problems that state their sizes otherwise under conditions are not exported")
    table = table_of(bundle, others)
    return Kernels(bundle, emitted.terms, trees, emitted.programs, served, stated, table, len(others), emitted.added)


def agreement(exported: Kernels, count: int) -> tuple[float, float, float]:
    """The shares of so many other sizes for which the table serves as Python chooses, or as fast, and what others lose.

    As fast are schedules whose modelled times Python takes for equal. The loss is a share of the time of Python's
    choice, by the time model, in the mean of all sizes; 1 where nothing serves.
    """
    emitted, pairs = Emitted(exported.bundle, exported.added), []
    for sizes in drawn_sizes(exported.bundle, count, seed=1):
        best, serving = emitted.chosen(sizes), exported.serving(sizes)
        if best is not None:
            schedule = serving[0] if serving else None
            pairs.append((schedule == best.schedule, max(0.0, best.slower[schedule]) if schedule else 1.0))
    same = sum(one for one, _ in pairs)
    as_fast = sum(one or slower <= TIE - 1 for one, slower in pairs)
    return same / len(pairs), as_fast / len(pairs), sum(slower for _, slower in pairs) / len(pairs)
