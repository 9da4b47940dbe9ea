"""The kernels of an export: for which sizes a schedule has which program, and what serves some sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from math import log
from typing import Any

from autotune.codegen.model.argument import WORKSPACE, Argument
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule

from .bundle import Bundle
from .choice import Rule, chosen, drawn_sizes
from .formula import Formula
from .plan import Plan, first_turns, plan_of, written_once
from .terms import Terms, Values
from .trace import Path, TraceError

SIZES = 8000  # sizes that Python is asked for


class Kernels:
    """All that is exported, as far as Python was asked for sizes.

    Attributes:
        bundle: what was asked for.
        terms: numbers that follow from sizes.
        launched: of each schedule, what it launches; nothing where it is illegal, or has a source for each size.
        programs: of each plan, as it was emitted for some sizes.
        examples: what Python chooses for sizes for which the time of a schedule has no formula.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle, self.terms = bundle, Terms(bundle.most)
        self.programs: dict[Plan, Program] = {}
        self.examples: dict[tuple[int, ...], Schedule] = {}
        self.launched = {one: Formula(self.terms, partial(self._plan, one)) for one in bundle.all_schedules}
        records = {(record.schedule, record.problem) for record in bundle.records}
        for problem in bundle.problems:
            sizes = bundle.sizes(problem)
            for schedule, formula in self.launched.items():
                if schedule in bundle.schedules or (schedule, problem) in records:
                    formula.at(sizes, Values(self.terms, sizes), own=True)

    def _plan(self, schedule: Schedule, path: Path, sizes: Mapping[str, Any]) -> Plan | None:
        """What a schedule launches for sizes that are traced."""
        operator, problem = self.bundle.operator, self.bundle.problem(sizes)
        if operator.violations(problem, schedule, self.bundle.spec):
            return None
        program = operator.emit(problem, schedule)
        first, *others = (replace(module, source=path.plain(module.code)) for module in program.modules)
        steps = written_once(program.steps)
        program = replace(program, source=first.source, others=tuple(others), steps=steps)
        plan = plan_of(program, path)
        self.programs.setdefault(plan, first_turns(program))
        return plan

    def complete(self, drawn: Iterable[Mapping[str, int]]) -> None:
        """Add schedules for sizes that the bundle's last one does not serve."""
        sure = [self.bundle.schedules[-1]]
        for sizes in filter(self.bundle.serves, drawn):
            values = Values(self.terms, sizes)
            if not any(self.launched[one].at(sizes, values) for one in sure):
                seeds = self.bundle.operator.seeds(self.bundle.problem(sizes), self.bundle.spec)
                for one in (*self.bundle.schedules, *(seed.shape_generic for seed in seeds)):
                    formula = self.launched.setdefault(one, Formula(self.terms, partial(self._plan, one)))
                    if formula.at(sizes, values):
                        sure.append(one)
                        break
        added = (one for one in dict.fromkeys(sure) if one not in self.bundle.schedules)
        self.bundle = replace(self.bundle, schedules=(*added, *self.bundle.schedules))

    def ask(self, sizes: Mapping[str, int], *, own: bool = False) -> list[Schedule]:
        """Find out which schedules serve some sizes, and what the rule compares of them; see `Formula.at`."""
        values = Values(self.terms, sizes)
        serving = [one for one in self.bundle.all_schedules if self.launched[one].at(sizes, values)]
        self.rule.ask(sizes, values, serving, own=own)
        return serving

    def chosen(self, sizes: Mapping[str, int]) -> Schedule | None:
        """What Python chooses for some sizes, among kernels that need not be exported."""
        return chosen(self.bundle, sizes, self.ask(sizes), self.bundle.records)

    def serving(self, sizes: Mapping[str, int]) -> tuple[Schedule, Plan] | None:
        """What serves some sizes, as C++ finds it: what Python chooses by what is known."""
        values, bundle = Values(self.terms, sizes), self.bundle
        plans = {one: plan for one in bundle.all_schedules if (plan := self.launched[one].known(values))}
        timed = [
            one for one, formula in self.rule.seconds.items() if one in plans and formula.known(values) is not None
        ]
        near = [record for record, formula in self.rule.distances if formula.known(values) is not None]
        best = self._nearest_example(sizes, plans) if any(one not in timed for one in plans) else None
        others = (one for one in reversed(bundle.schedules) if one in plans)
        found = best or chosen(bundle, sizes, timed, near) or next(others, None)
        return (found, plans[found]) if found else None

    def _nearest_example(self, sizes: Mapping[str, int], serving: Collection[Schedule]) -> Schedule | None:
        apart = [
            (sum(log(one / other) ** 2 for one, other in zip(sizes.values(), there, strict=True)), place, schedule)
            for place, (there, schedule) in enumerate(self.examples.items())
            if schedule in serving
        ]
        return min(apart)[2] if apart else None

    @cached_property
    def rule(self) -> Rule:
        """What decides which schedule serves; of the bundle that is complete."""
        return Rule(self.bundle, self.terms)

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

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """The tensors whose addresses a call brings, in the problem's order, then ``workspace``."""
        tensors = self.bundle.problems[0].tensors
        taken = {name for plan in self.plans for name in self.programs[plan].tensor_names}
        return (*(tensor.name for tensor in tensors if tensor.name in taken), WORKSPACE)

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
    kernels.complete(chain([dict.fromkeys(bundle.most, 1)], drawn_sizes(bundle, more, seed=2)))
    for problem in bundle.problems:
        kernels.ask(bundle.sizes(problem), own=True)
    served = False
    for sizes in drawn_sizes(bundle, count, seed=0):
        serving, values = kernels.ask(sizes), Values(kernels.terms, sizes)
        served = served or bool(serving)
        timed = all(kernels.rule.seconds[one].known(values) is not None for one in serving if one in bundle.schedules)
        if not timed and (schedule := kernels.chosen(sizes)):
            kernels.examples[tuple(sizes.values())] = schedule
    if not served:
        raise TraceError("no schedule serves sizes that are drawn")
    return kernels
