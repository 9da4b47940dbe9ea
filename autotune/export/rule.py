"""Which schedule serves which sizes: the dispatcher's rule, as trees of what it compares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial, reduce

from autotune.codegen.model.integers import logarithm
from autotune.codegen.model.schedule import Schedule
from autotune.dispatcher.choice.choose import outranks
from autotune.dispatcher.choice.modelled import TIE
from autotune.dispatcher.choice.records import Record
from autotune.dispatcher.choice.transfer import alike, comparable, doubt, transferred_seconds
from autotune.search_spaces.contract.modelled_time import modelled_seconds

from .bundle import Bundle
from .steps import Plan
from .terms import NEVER, Terms, Values
from .trace import Path
from .tree import T, Tree

_EXACT = -1e9  # the distance of a record of the very problem


class Rule:
    """The dispatcher's choice among schedules and records.

    Attributes:
        seconds: of each schedule, a tree that leads to the row of its modelled time.
        distances: of each record, likewise, to the row of its distance if it goes before the time model's choice.
        schedule: a tree that leads to the schedule that serves.
    """

    def __init__(self, bundle: Bundle, terms: Terms, launched: Mapping[Schedule, Tree[Plan]]) -> None:
        self._bundle, self._terms, self._launched = bundle, terms, launched
        self.seconds: dict[Schedule, Tree[int]] = {schedule: Tree() for schedule in launched}
        self.distances: list[tuple[Record, Tree[int]]] = [(record, Tree()) for record in bundle.records]
        general, last_first = bundle.schedules, bundle.schedules[::-1]  # the default is the last one that serves
        known, tie, one = (terms.constant(value) for value in (NEVER / 2, TIE, 1))
        times = {schedule: terms.row("result", self.seconds[schedule]) for schedule in general}
        bound = terms.row("minimum", known, terms.row("multiply", tie, self._least(times.values())))
        if bundle.operator.counted:
            modelled = [(times[schedule], bound, schedule) for schedule in general]
        else:
            modelled = [(times[schedule], known, schedule) for schedule in last_first]
        self._modelled = self._first((time, most, times[schedule]) for time, most, schedule in modelled)
        far = [(terms.row("result", tree), record.schedule) for record, tree in self.distances]
        nearest = self._least([known, *(row for row, _ in far)])
        recorded = [(row, nearest, schedule) for row, schedule in far]
        serving = [(one, terms.row("leads", launched[schedule]), schedule) for schedule in last_first]
        self.schedule: Tree[Schedule] = self._first([*recorded, *modelled, *serving])

    def ask(self, values: Values, serving: Collection[Schedule], *, own: bool) -> None:
        """Find out what is compared for some sizes, of the schedules that serve; see `Tree.ask`."""
        for schedule in serving:
            self.seconds[schedule].ask(values, partial(self._seconds, schedule), own=own)
        for record, tree in self.distances:
            if record.schedule in serving:
                tree.ask(values, partial(self._distance, record), own=own)

    def _seconds(self, schedule: Schedule, path: Path) -> int | None:
        """The modelled time of a schedule, if it serves."""
        if not path.leads(self._launched[schedule]):
            return None
        problem = self._bundle.problem(path.sizes)
        try:
            found = modelled_seconds(self._bundle.operator, problem.served_as or problem, schedule, self._bundle.spec)
        except TypeError:  # of NumPy, say, which takes no traced sizes: the time is not known
            return None
        return path.row(found)

    def _distance(self, record: Record, path: Path) -> int | None:
        """How far a record is, if it serves and goes before the time model's choice.

        All distances are relative to the same roofline, which is left out.
        """
        operator, problem = self._bundle.operator, self._bundle.problem(path.sizes)
        problem = problem.served_as or problem
        if not path.leads(self._launched[record.schedule]) or not comparable(problem, record):
            return None
        apart = doubt(problem, record)
        exact = apart == 0
        if exact and not record.unconfirmed and record.kin is None:
            return path.row(_EXACT)
        modelled, model = path.result(self.seconds[record.schedule]), path.result(self._modelled)
        if (record.own_only and not exact) or modelled >= NEVER:
            return None
        distance = logarithm(transferred_seconds(operator, problem, record, self._bundle.spec, modelled)) + apart
        before = outranks(distance, logarithm(model), modelled, model, alike=alike(problem, record))
        return path.row(distance) if before else None

    def _least(self, rows: Iterable[int]) -> int:
        return reduce(partial(self._terms.row, "minimum"), rows)

    def _first(self, cases: Iterable[tuple[int, int, T]]) -> Tree[T]:
        """A tree to the result of the first case whose number, by its row, is at most another one."""
        tree, above = Tree[T](), list[tuple[int, bool]]()
        for number, most, result in cases:
            over = self._terms.row("less", most, number)
            tree.grow([*above, (over, False)], result)
            above.append((over, True))
        return tree
