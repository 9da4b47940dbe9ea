"""Which schedule serves which sizes: the dispatcher's rule, as terms of what it compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce

from autotune.codegen.model.integers import logarithm
from autotune.codegen.model.schedule import Schedule
from autotune.dispatcher.choice.choose import outranks
from autotune.dispatcher.choice.modelled import TIE
from autotune.dispatcher.choice.records import Record
from autotune.dispatcher.choice.transfer import alike, comparable, doubt, transferred_seconds
from autotune.search_spaces.contract.modelled_time import modelled_seconds

from .bundle import Bundle
from .terms import Terms, Values
from .trace import Path
from .tree import Tree

_NEVER = 1e30  # the seconds and the distance of what does not serve, or of which they are not known
_EXACT = -1e9  # the distance of a record of the very problem
Asked = Sequence[tuple[dict[str, int], bool]]
_Case = tuple[int, int, int]  # rows of a number, of the most that it may be, and of what follows then


class Rule:
    """The dispatcher's choice among schedules and records.

    Attributes:
        seconds: of each schedule, the row of its modelled time.
        schedule: the row of the number of the schedule that serves, or of -1.
    """

    def __init__(self, bundle: Bundle, terms: Terms, plans: Mapping[Schedule, int], asked: Asked) -> None:
        """Find out what is compared.

        Args:
            bundle: what is exported.
            terms: to which the rule is added.
            plans: of each schedule, the row of the number of what it launches; negative where it does not serve.
            asked: sizes, and whether what is compared may hold values of them; see `Tree.ask`.
        """
        self._bundle, self._terms, self._plans = bundle, terms, plans
        last_first = bundle.schedules[::-1]  # the default is the last one that serves
        order, slack = (bundle.schedules, TIE) if bundle.operator.counted else (last_first, _NEVER)
        known, numbers = terms.constant(_NEVER / 2), {one: terms.constant(place) for place, one in enumerate(plans)}
        found = self._followed([partial(self._seconds, schedule) for schedule in plans], asked)
        self.seconds = dict(zip(plans, found, strict=True))
        times = [self.seconds[schedule] for schedule in order]
        bound = self._least([known, terms.row("multiply", terms.constant(slack), self._least(times))])
        self._model = self._first(((time, bound, time) for time in times), terms.constant(_NEVER))
        distances = self._followed([partial(self._distance, record) for record in bundle.records], asked)
        nearest, nought = self._least([known, *distances]), terms.constant(0)
        cases = [
            *((far, nearest, numbers[one.schedule]) for far, one in zip(distances, bundle.records, strict=True)),
            *((self.seconds[schedule], bound, numbers[schedule]) for schedule in order),
            *((nought, plans[schedule], numbers[schedule]) for schedule in last_first),
        ]
        self.schedule = self._first(cases, terms.constant(-1))

    def _followed(self, functions: Sequence[Callable[[Path], int | None]], asked: Asked) -> list[int]:
        """The rows of what functions of sizes return."""
        trees = [Tree[int]() for _ in functions]
        for sizes, own in asked:
            values = Values(self._terms, sizes)
            for tree, function in zip(trees, functions, strict=True):
                tree.ask(values, function, own=own)
        return [tree.row(self._terms, int, self._terms.constant(_NEVER)) for tree in trees]

    def _seconds(self, schedule: Schedule, path: Path) -> int | None:
        """The modelled time of a schedule, if it serves."""
        if path.number(self._plans[schedule]) < 0:
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
        if path.number(self._plans[record.schedule]) < 0 or not comparable(problem, record):
            return None
        apart = doubt(problem, record)
        exact = apart == 0
        if exact and not record.unconfirmed and record.kin is None:
            return path.row(_EXACT)
        modelled, model = (path.number(row) for row in (self.seconds[record.schedule], self._model))
        if (record.own_only and not exact) or modelled >= _NEVER:
            return None
        distance = logarithm(transferred_seconds(operator, problem, record, self._bundle.spec, modelled)) + apart
        before = outranks(distance, logarithm(model), modelled, model, alike=alike(problem, record))
        return path.row(distance) if before else None

    def _least(self, rows: Iterable[int]) -> int:
        return reduce(partial(self._terms.row, "minimum"), rows)

    def _first(self, cases: Iterable[_Case], otherwise: int) -> int:
        """The row of what follows from the first case whose number is not above the most."""
        for number, most, result in reversed([*cases]):
            otherwise = self._terms.row("select", self._terms.row("less", most, number), otherwise, result)
        return otherwise
