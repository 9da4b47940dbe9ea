"""The kernels of an export: for which sizes a schedule has which program, and what serves some sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain

from autotune.codegen.model.argument import WORKSPACE, Argument
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule

from .bundle import Bundle
from .rule import Rule
from .steps import Plan, plan_of
from .terms import Terms, Values
from .trace import UNKNOWN, Path, TraceError, ValueNeededError
from .tree import Tree


class Kernels:
    """All that is exported, as far as Python was asked for sizes.

    Attributes:
        bundle: what was asked for.
        terms: numbers that follow from sizes.
        programs: of each plan, as it was emitted for some sizes.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle, self.terms = bundle, Terms()
        self.programs: dict[Plan, Program] = {}
        self._launched: defaultdict[Schedule, Tree[Plan]] = defaultdict(Tree)
        self._asked: list[tuple[dict[str, int], bool]] = []
        for problem in bundle.problems:
            records = (record.schedule for record in bundle.records if record.problem == problem)
            self.ask(bundle.sizes(problem), {*bundle.schedules, *records})

    def complete(self, drawn: Iterable[Mapping[str, int]]) -> None:
        """Add schedules for sizes that none of the bundle's serves."""
        for sizes in drawn:
            values = Values(self.terms, sizes)
            if not any(self._ask(one, values) for one in reversed(self.bundle.schedules)):
                seeds = self.bundle.operator.seeds(self.bundle.problem(sizes), self.bundle.spec)
                added = next((one for seed in seeds if self._ask(one := seed.shape_generic, values)), None)
                if added:
                    self.bundle = replace(self.bundle, schedules=(added, *self.bundle.schedules))

    def ask(self, sizes: Mapping[str, int], own: Collection[Schedule] = ()) -> list[Schedule]:
        """Find out which schedules serve some sizes, or only those of `own`, with values of these sizes: `Tree.ask`."""
        values = Values(self.terms, sizes)
        self._asked.append((dict(sizes), bool(own)))
        return [one for one in own or self.bundle.all_schedules if self._ask(one, values, own=bool(own))]

    def serving(self, sizes: Mapping[str, int]) -> tuple[Schedule, Plan] | None:
        """What serves some sizes, as C++ finds it."""
        values = Values(self.terms, sizes)
        number = values[self.rule.schedule]
        if number < 0:
            return None
        schedule = self.bundle.all_schedules[number]
        return schedule, self.plans[values[self.launched[schedule]]]

    def _ask(self, schedule: Schedule, values: Values, *, own: bool = False) -> Plan | None:
        return self._launched[schedule].ask(values, partial(self._plan, schedule), own=own)

    def _plan(self, schedule: Schedule, path: Path) -> Plan | None:
        """What a schedule launches for sizes that are traced."""
        operator, problem = self.bundle.operator, self.bundle.problem(path.sizes)
        if operator.violations(problem, schedule, self.bundle.spec):
            return None
        program = operator.emit(problem, schedule)
        if UNKNOWN in program.code:
            raise ValueNeededError
        plan, first = plan_of(program, path)
        self.programs.setdefault(plan, first)
        return plan

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """All that may be launched."""
        return tuple(self.programs)

    @cached_property
    def launched(self) -> dict[Schedule, int]:
        """Of each schedule, the row of the number of its plan; -1 where it's illegal, or has a source for each size."""
        nothing = self.terms.constant(-1)
        rows = {plan: self.terms.constant(number) for number, plan in enumerate(self.plans)}
        return {
            one: self._launched[one].row(self.terms, rows.__getitem__, nothing) for one in self.bundle.all_schedules
        }

    @cached_property
    def rule(self) -> Rule:
        """What decides which schedule serves."""
        return Rule(self.bundle, self.terms, self.launched, self._asked)

    @cached_property
    def sources(self) -> dict[str, Program]:
        """A program of each source, by the digest of the source."""
        return {part.source_digest: part for program in self.programs.values() for part in program.parts}

    @cached_property
    def scalars(self) -> tuple[Argument, ...]:
        """The scalars that a call brings.

        Raises:
            TraceError: programs take one of different types.
        """
        brought: dict[str, Argument] = {}
        for one in (one for program in self.programs.values() for one in program.brought if one.scalar):
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


def kernels_of(bundle: Bundle, count: int) -> Kernels:
    """Ask Python what it emits for the problems and for so many other sizes, and how it chooses.

    Raises:
        TraceError: C++ cannot compute what launches need.
    """
    kernels = Kernels(bundle)
    more = 500 + 4 * count  # cheap: few schedules are asked, which should have a kernel wherever they serve
    least = filter(None, [bundle.fitted(dict.fromkeys(bundle.most, 1))])
    kernels.complete(chain(least, bundle.drawn_sizes(more, seed=2)))
    served = [bool(kernels.ask(sizes)) for sizes in bundle.drawn_sizes(count, seed=0)]
    if not any(served):
        raise TraceError("no schedule serves sizes that are drawn")
    return kernels
