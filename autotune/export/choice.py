"""Which schedule serves which sizes: Python's choices for sizes that are drawn, as a tree of conditions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf

import numpy as np

from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.schedule import Schedule
from autotune.dispatcher.choice.choose import choices
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .bundle import Bundle
from .terms import Terms, Values
from .tree import Branch, Leaf, Tree

_USUAL = 2**15  # most of the sizes that are drawn are below
_EDGES = (1, 2, 4, 8, 24, 33, 100, 1022, 4096)
_WIDEST = 128  # powers of two up to it divide sizes or do not
_WORST = 20.0  # the most that one size counts against a schedule: 21 times the time, or that it does not serve
_FEW = 6  # sizes of which some are chosen for otherwise; the schedule that loses least serves all of them
_RANKED = 8  # schedules of a leaf, of which the first serves whose kernel is exported
_DISAGREEMENT = 1e-3  # what it counts that a schedule is not Python's choice, as a share of the time
_IMPURITY = 0.03  # the same, of a size that is parted from others of its choice


@dataclass(frozen=True)
class Chosen:
    """What Python chooses for some sizes.

    Attributes:
        sizes: the sizes.
        schedule: the choice.
        slower: by which share of its modelled time others take longer; of those that serve.
    """

    sizes: Mapping[str, int]
    schedule: Schedule
    slower: Mapping[Schedule, float]


def drawn_sizes(bundle: Bundle, count: int, seed: int) -> Iterator[dict[str, int]]:
    """Sizes of all orders, in whole tiles, and near those of the problems, made to fit; none is a problem's own."""
    draw, own = random.Random(seed), [bundle.sizes(problem) for problem in bundle.problems]
    while count:
        kind, near = draw.random(), draw.choice(own)
        most = {name: min(one, _USUAL) if kind > 0.1 else one for name, one in bundle.most.items()}
        if kind < 0.1 and draw.random() < 0.5:  # where conditions turn out otherwise
            sizes = {name: draw.choice(_EDGES) for name in most}
        elif kind < 0.5:
            sizes = {name: int(one ** draw.random()) for name, one in most.items()}
        elif kind < 0.75:
            sizes = {
                name: draw.choice((1, 8, 64, 128)) * int((one / 64) ** draw.random()) for name, one in most.items()
            }
        else:
            sizes = {name: int(near[name] * 4 ** draw.uniform(-1, 1)) for name in most}
        limited = {name: max(1, min(most[name], one)) for name, one in sizes.items()}
        fitted = bundle.operator.problem_type.fitted({**bundle.fixed, **limited})
        found = {name: fitted[name] for name in most}
        if found not in own and bundle.serves(found):
            count -= 1
            yield found


def chosen(bundle: Bundle, sizes: Mapping[str, int], serving: Sequence[Schedule]) -> Chosen | None:
    """What the dispatcher takes if there are no other schedules and records than those that serve, if one does."""
    problem, known = bundle.problem(sizes), set(serving)

    def constraints(problem: Problem, schedule: Schedule, spec: DeviceSpec) -> list[str]:
        return [] if schedule in known else ["not exported"]

    general = [schedule for schedule in bundle.schedules if schedule in known]
    only = bundle.operator.with_kernels(constraints=constraints, candidates=lambda problem, spec: iter(general))
    if not general:
        return None
    operator = replace(only, default=lambda problem, spec: general[-1])
    schedule = next(choices(operator, problem, bundle.spec, bundle.records)).schedule
    seconds = {one: modelled_seconds(operator, problem, one, bundle.spec) for one in known}
    return Chosen(sizes, schedule, {one: time / seconds[schedule] - 1 for one, time in seconds.items()})


def table_of(bundle: Bundle, known: Sequence[Chosen]) -> Tree[tuple[int, ...]]:
    """The tree that leads to what was chosen, by numbers among the schedules of a bundle, best first."""
    texts, terms = list(_features(list(bundle.most))), Terms(bundle.most)
    values = (Values(terms, one.sizes) for one in known)
    features = np.array([[float(one.of(text)) for text in texts] for one in values])
    labels = np.array([bundle.schedules.index(one.schedule) for one in known])
    costs = np.array([[_cost(one, schedule) for schedule in bundle.schedules] for one in known])
    return _learned(texts, features, labels, costs)


def _features(names: Sequence[str]) -> Iterator[str]:
    """What conditions compare with a number."""
    yield from (f"real({name})" for name in names)
    for count in range(2, len(names) + 1):
        yield from (" * ".join(f"real({name})" for name in some) for some in combinations(names, count))
    yield from (f"real({one}) / real({other})" for one, other in combinations(names, 2))
    yield from (f"gcd({name}, {_WIDEST})" for name in names)


def _cost(one: Chosen, schedule: Schedule) -> float:
    return min(_WORST, max(0.0, one.slower.get(schedule, inf))) + _DISAGREEMENT * (schedule != one.schedule)


def _learned(texts: Sequence[str], features: Array, labels: Array, costs: Array) -> Tree[tuple[int, ...]]:
    """A tree that splits where both sides lose least (cost-sensitive CART); a leaf has what costs least, best first."""
    if len(labels) >= _FEW and len(set(labels.tolist())) > 1:
        splits = [_split(column, labels, costs) for column in features.T]
        lost, threshold = min(splits)
        if lost < inf:
            number = splits.index((lost, threshold))
            below = features[:, number] < threshold
            ways = {
                way: _learned(texts, *(one[below == way] for one in (features, labels, costs))) for way in (True, False)
            }
            return Branch(f"{texts[number]} < {threshold!r}", ways)
    return Leaf(tuple(costs.sum(axis=0).argsort(kind="stable")[:_RANKED].tolist()))


def _split(column: Array, labels: Array, costs: Array) -> tuple[float, float]:
    """What both sides of the best threshold lose, and the threshold; infinite if all values are the same.

    A side loses what its cheapest schedule costs. The Gini impurity of the labels, with a small weight, decides among
    thresholds that lose about the same. It cannot lead: among many schedules that are nearly as fast as each other it
    parts these, and leaves together sizes that need different ones.
    """
    order = np.argsort(column, kind="stable")
    values, kinds = column[order], np.eye(costs.shape[1])[labels[order]]
    (cost, other), (ahead, behind) = (_sides(one) for one in (costs[order], kinds))
    counts = np.arange(1, len(values))
    pure = (ahead**2).sum(axis=1) / counts + (behind**2).sum(axis=1) / counts[::-1]
    lost = cost.min(axis=1) + other.min(axis=1) + _IMPURITY * (len(values) - pure)
    lost = np.where(values[1:] > values[:-1], lost, inf)
    best = int(lost.argmin())
    return float(lost[best]), float(values[best] + values[best + 1]) / 2


def _sides(rows: Array) -> tuple[Array, Array]:
    """The sums of the rows before and after each place between two of them."""
    sums = np.cumsum(rows, axis=0)
    return sums[:-1], sums[-1] - sums[:-1]
