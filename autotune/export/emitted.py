"""What Python emits and chooses for the sizes that an export asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule

from .bundle import Bundle
from .choice import Chosen, chosen
from .plan import Plan, first_turns, plan_of, written_once
from .terms import Terms, Values
from .trace import Number, Path
from .tree import Leaf, Tree, found, grown


class Emitted:
    """What is known of an export's schedules; more is found out by asking for sizes.

    Attributes:
        bundle: what is exported.
        added: its schedules that serve where no other does.
        terms: numbers that follow from sizes.
        trees: of each schedule, what it launches; None where it is illegal, or has a source of its own for each size.
        programs: of each plan, as it was emitted for some sizes.
    """

    def __init__(self, bundle: Bundle, added: tuple[Schedule, ...] = ()) -> None:
        self.bundle, self.terms = bundle, Terms(bundle.most)
        self.added = added
        self.trees: dict[Schedule, Tree[Plan | None]] = {}
        self.programs: dict[Plan, Program] = {}
        records = {(record.schedule, record.problem) for record in bundle.records}
        for problem in bundle.problems:
            for schedule in bundle.all_schedules:
                if schedule in bundle.schedules or (schedule, problem) in records:
                    self.plan(schedule, bundle.sizes(problem), own=True)

    def stated(self, sizes: Mapping[str, int]) -> tuple[str, ...]:
        """What the problem of some sizes says that they are: a map's of rows side by side are one long row."""
        problem = self.bundle.problem(Path(self.terms).sizes(sizes))
        return tuple(one.name if isinstance(one, Number) else str(one) for one in self.bundle.sizes(problem).values())

    def complete(self, drawn: Iterable[Mapping[str, int]]) -> None:
        """Add schedules for sizes that the bundle's last one does not serve."""
        sure = [self.bundle.schedules[-1]]
        for sizes in filter(self.bundle.serves, drawn):
            values = Values(self.terms, sizes)
            if not any(self.plan(one, sizes, values) for one in sure):
                problem = self.bundle.problem(sizes)
                seeds = (one.shape_generic for one in self.bundle.operator.seeds(problem, self.bundle.spec))
                sure += [one for one in (*self.bundle.schedules, *seeds) if self.plan(one, sizes, values)][:1]
        self.added = tuple(one for one in dict.fromkeys(sure) if one not in self.bundle.schedules)
        self.bundle = replace(self.bundle, schedules=(*self.added, *self.bundle.schedules))

    def chosen(self, sizes: Mapping[str, int]) -> Chosen | None:
        """What Python chooses, among added schedules where no other serves."""
        values = Values(self.terms, sizes)
        serving = [one for one in self.bundle.all_schedules if self.plan(one, sizes, values)]
        return chosen(self.bundle, sizes, [one for one in serving if one not in self.added] or serving)

    def plan(
        self, schedule: Schedule, sizes: Mapping[str, int], values: Values | None = None, *, own: bool = False
    ) -> Plan | None:
        """What a schedule launches for some sizes; None where it does not serve.

        Args:
            schedule: one of the bundle's.
            sizes: those of a problem that exists.
            values: of the same sizes, if they were computed.
            own: whether a source may hold values of these sizes, as those of exported problems may.
        """
        leaf = found(self.trees.get(schedule), values if values is not None else Values(self.terms, sizes))
        if leaf is None:
            path = Path(self.terms)
            plan = self._traced(schedule, path, sizes)
            known = None if own else path.narrow  # for no other value either
            leaf = Leaf(plan if known is None else None)
            self.trees[schedule] = grown(self.trees.get(schedule), list(path.conditions.items())[:known], leaf.value)
        return leaf.value

    def _traced(self, schedule: Schedule, path: Path, sizes: Mapping[str, int]) -> Plan | None:
        bundle = self.bundle
        try:
            problem = bundle.problem(path.sizes(sizes))
            if bundle.operator.violations(problem, schedule, bundle.spec):
                return None
            program = bundle.operator.emit(problem, schedule)
            program = replace(program, steps=written_once(program.steps))
        except ValueError:  # a problem that cannot exist
            return None
        first, *others = (replace(module, source=path.plain(module.code)) for module in program.modules)
        program = replace(program, source=first.source, others=tuple(others))
        plan = plan_of(program)
        self.programs.setdefault(plan, first_turns(program))
        return plan
