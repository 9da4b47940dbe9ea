"""How many tiles sequences of various lengths have that lie one behind the other, and how long these take to find."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.attention.packed import PackedProblem
from autotune.codegen.attention.problem import HeadProblem
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.indices import Spread
from autotune.codegen.model.integers import ceil_div, largest, smallest
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec

_DRAWN, _OF = 6, 7  # sequences of which so many of so many have bounds of their own, and others no token


def longest_first(problem: HeadProblem) -> bool:
    """Whether tiles of queries that see the most keys come first."""
    return problem.bounded_right and not problem.bounded_left


def of_sequences(problem: PackedProblem, rows: int, keys: int) -> tuple[int, float, float, float]:
    """Of a head: tiles of queries, tiles of keys that each goes through on average, those of the longest sequence, and
    the keys of a query's sequence on average.

    Lengths of random sequences are about exponentially distributed: of n tokens on average, 1 of n + 1 has none; one of
    x tiles on average has max(1, x + 1/2), the mean of squares is twice the square of the mean, and the longest of some
    dozens is four times as long as the mean.
    """
    sequences, long = largest(1, smallest(problem.batch, problem.queries)), problem.spread is Spread.LONG
    queries, all_keys = (all_ // 2 if long else all_ for all_ in (problem.queries, problem.keys))
    even = problem.spread is Spread.EVEN or problem.batch == 1
    drawn = largest(1, sequences * _DRAWN // _OF)
    there = sequences if even else largest(1, (queries * drawn + (queries + drawn) // 2) // (queries + drawn))
    of_each = largest(1, queries // there), largest(1, all_keys // there)
    seen = replace(problem.band, low=None).pairs(*of_each) / (of_each[0] * of_each[1])
    if even:
        tiles, last = ceil_div(of_each[0], rows), ceil_div(of_each[1], keys)
        return there * tiles, seen * last + 1 - seen, last, of_each[1]
    own, met = queries / there / rows, all_keys / there / keys
    pairs = seen * own * met * (1 if problem.cross else 2) + (own + met) / 2
    tiles, average = largest(there, (2 * queries + rows * there) // (2 * rows)), (pairs + 1 / 4) / (own + 1 / 2)
    if not long:
        return tiles, average, smallest(4.0 * met, all_keys / keys) + 1 / 2, 2 * met * keys
    first, last = ceil_div(queries, rows), ceil_div(all_keys, keys)
    longest = seen * last + 1 - seen
    return tiles + first, (tiles * average + first * longest) / (tiles + first), last, all_keys


@dataclass(frozen=True)
class PackedCosts(Coefficients, section="attention.packed"):
    """What packed sequences take.

    Attributes:
        find_clocks: clocks of a load by which a tile is found, or of a ticket. Of a block for each tile, the other
            blocks of the SM hide them; blocks that stay find the next one meanwhile.
    """

    find_clocks: float


def finding_clocks(problem: HeadProblem, queries: int, looking: float, spec: DeviceSpec) -> float:
    """Clocks that a tile of so many queries of packed sequences waits for, until its block knows it.

    As many blocks are looking for each tile that is there; 0 if blocks stay, and are told.
    """
    rounds = finding_rounds(problem, queries)
    return PackedCosts.of(spec).find_clocks * (rounds * (1 + looking) if looking else min(1.0, rounds))


def finding_rounds(problem: HeadProblem, queries: int) -> float:
    """Loads that a tile of so many queries of packed sequences waits for, one after the other, until it is found."""
    if not problem.segmented:
        return 0.0
    parts = ceil_div(problem.batch, WARP)
    rounds = (1 + parts) / 2
    step = WARP
    while longest_first(problem):
        rounds += parts
        if step > problem.queries // queries:
            break
        step *= WARP
    return rounds


def looking_clocks(problem: HeadProblem, queries: int, looks: float, spec: DeviceSpec, *, tickets: bool) -> float:
    """Clocks in which the warp of a block that stays finds a tile, if it looks so often for each that is there."""
    if not problem.segmented:
        return 0.0
    return (finding_rounds(problem, queries) + tickets) * PackedCosts.of(spec).find_clocks * looks
