"""The kernels of an export: for which sizes a schedule has which program, and what serves some sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain

from autotune.codegen.model.argument import WORKSPACE, Argument
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule

from .bundle import Bundle
from .rule import Rule
from .steps import Plan, first_turns, plan_of, written_once
from .terms import Terms, Values
from .trace import Path, TraceError
from .tree import Tree

SIZES = 8000  # sizes that Python is asked for


class Kernels:
    """All that is exported, as far as Python was asked for sizes.

    Attributes:
        bundle: what was asked for.
        terms: numbers that follow from sizes.
        launched: of each schedule, what it launches; nothing where it is illegal, or has a source for each size.
        programs: of each plan, as it was emitted for some sizes.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle, self.terms = bundle, Terms(bundle.most)
        self.programs: dict[Plan, Program] = {}
        self.launched: dict[Schedule, Tree[Plan]] = {one: Tree() for one in bundle.all_schedules}
        records = {(record.schedule, record.problem) for record in bundle.records}
        for problem in bundle.problems:
            values = Values(self.terms, bundle.sizes(problem))
            for schedule in bundle.all_schedules:
                if schedule in bundle.schedules or (schedule, problem) in records:
                    self._ask(schedule, values, own=True)

    def complete(self, drawn: Iterable[Mapping[str, int]]) -> None:
        """Add schedules for sizes that the bundle's last one does not serve."""
        sure = [self.bundle.schedules[-1]]
        for sizes in drawn:
            values = Values(self.terms, sizes)
            if not any(self._ask(one, values) for one in sure):
                seeds = self.bundle.operator.seeds(self.bundle.problem(sizes), self.bundle.spec)
                others = (*self.bundle.schedules, *(seed.shape_generic for seed in seeds))
                sure += [one for one in others if self._ask(one, values)][:1]
        added = (one for one in dict.fromkeys(sure) if one not in self.bundle.schedules)
        self.bundle = replace(self.bundle, schedules=(*added, *self.bundle.schedules))

    def ask(self, sizes: Mapping[str, int], *, own: bool = False) -> list[Schedule]:
        """Find out which schedules serve some sizes, and what the rule compares of them; see `Tree.ask`."""
        values = Values(self.terms, sizes)
        serving = [one for one in self.bundle.all_schedules if self._ask(one, values)]
        self.rule.ask(values, serving, own=own)
        return serving

    def serving(self, sizes: Mapping[str, int]) -> tuple[Schedule, Plan] | None:
        """What serves some sizes, as C++ finds it."""
        values = Values(self.terms, sizes)
        schedule = self.rule.schedule.result(values)
        plan = schedule and self.launched[schedule].result(values)
        return (schedule, plan) if schedule and plan else None

    def _ask(self, schedule: Schedule, values: Values, *, own: bool = False) -> Plan | None:
        tree = self.launched.setdefault(schedule, Tree())
        return tree.ask(values, partial(self._plan, schedule), own=own)

    def _plan(self, schedule: Schedule, path: Path) -> Plan | None:
        """What a schedule launches for sizes that are traced."""
        operator, problem = self.bundle.operator, self.bundle.problem(path.sizes)
        if operator.violations(problem, schedule, self.bundle.spec):
            return None
        program = operator.emit(problem, schedule)
        first, *others = (replace(module, source=path.plain(module.code)) for module in program.modules)
        steps = written_once(program.steps)
        program = replace(program, source=first.source, others=tuple(others), steps=steps)
        plan = plan_of(program, path)
        self.programs.setdefault(plan, first_turns(program))
        return plan

    @cached_property
    def rule(self) -> Rule:
        """What decides which schedule serves; of the bundle that is complete."""
        return Rule(self.bundle, self.terms, {one: self.launched[one] for one in self.bundle.all_schedules})

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """All that may be launched."""
        found = (self.launched[schedule].results for schedule in self.bundle.all_schedules)
        return tuple(dict.fromkeys(chain.from_iterable(found)))

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

    @property
    def addresses(self) -> tuple[str, ...]:
        """The tensors whose addresses a call brings, in the problem's order, then ``workspace``."""
        return (*(tensor.name for tensor in self.bundle.problems[0].tensors), WORKSPACE)

    @property
    def brought(self) -> tuple[str, ...]:
        """All that a call brings: `addresses`, then `scalars`."""
        return (*self.addresses, *(one.name for one in self.scalars))


def kernels_of(bundle: Bundle, count: int = SIZES) -> Kernels:
    """Ask Python what it emits for the problems and for so many other sizes, and how it chooses.

    Raises:
        TraceError: C++ cannot compute what launches need.
    """
    kernels = Kernels(bundle)
    more = 500 + 4 * count  # cheap: few schedules are asked, which should have a kernel wherever they serve
    kernels.complete(
        chain(filter(None, [bundle.fitted(dict.fromkeys(bundle.most, 1))]), bundle.drawn_sizes(more, seed=2))
    )
    for problem in bundle.problems:
        kernels.ask(bundle.sizes(problem), own=True)
    if not sum(bool(kernels.ask(sizes)) for sizes in bundle.drawn_sizes(count, seed=0)):
        raise TraceError("no schedule serves sizes that are drawn")
    return kernels
