"""The runoff of a run: the fastest few schedules are measured again, interleaved with the incumbent.

The minimum of many noisy measurements is biased low. Interleaved samples meet the same clock and temperature, so their
ratios separate schedules that their times could not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from math import inf

from autotune.base.confidence import Interval, ratio_interval
from autotune.db.states import Objective, Status, TimeSource
from autotune.db.trials import Trial

ROUNDS = 8  # the fewest of which a ratio's bounds are 99 % sure: the least and the greatest
_CONFIDENCE = 0.99
_CHALLENGERS = 3
# A shorter run has no runoff, which would take a large part of its time.
_SHORT_RUN = 3 * ROUNDS * (1 + _CHALLENGERS)


@dataclass(frozen=True)
class Runoff:
    """The outcome of a runoff.

    Attributes:
        winner: the challenger that is surely faster than the incumbent, or the incumbent: a tie keeps it.
        incumbent: the best trial before the run, or of a first run the one that looked best.
        ratio: the best challenger's time over the incumbent's; below 1 it is faster. The bounds are 99 % sure.
    """

    winner: Trial
    incumbent: Trial
    ratio: Interval


def leaders(trials: Iterable[Trial | None], objective: Objective = Objective.TIME) -> list[Trial]:
    """The few best ok trials, the best first."""
    ok = (trial for trial in trials if trial and trial.cost(objective) < inf)
    return nsmallest(1 + _CHALLENGERS, ok, key=lambda trial: trial.cost(objective))


def participants(incumbent: Trial | None, few: Sequence[Trial], evaluated: int) -> list[Trial]:
    """The trials to measure again, the incumbent first; none if a runoff would not pay or would change nothing.

    Args:
        incumbent: the best trial before the run.
        few: the `leaders` of the run.
        evaluated: how many trials the run made.
    """
    if evaluated < _SHORT_RUN or any(trial.time_source is TimeSource.MODELLED for trial in few):
        return []
    found = [incumbent, *few[:_CHALLENGERS]] if incumbent else [*few]
    return found if len(found) > 1 else []


def run_off(listed: Sequence[Trial], evaluate: Callable[[Trial], Trial]) -> tuple[Runoff | None, list[Trial]]:
    """Measure the participants again, interleaved.

    Args:
        listed: the incumbent, then its challengers.
        evaluate: measures a trial's schedule again.

    Returns:
        The outcome, None if fewer than two were left; and the participants' trials with the samples of all rounds. One
        that fails drops out with its failure; for an incumbent the next one stands in.
    """
    rounds: list[list[Trial]] = [[] for _ in listed]
    for _ in range(ROUNDS):
        for taken, trial in zip(rounds, listed, strict=True):
            if not taken or taken[-1].status is Status.OK:
                taken.append(evaluate(trial))
    left = [taken for taken in rounds if taken[-1].status is Status.OK]
    return _decision(left) if len(left) > 1 else None, [merged(taken) for taken in rounds]


def losers(winner: Trial, ranked: Iterable[Trial], lost: Callable[[Trial], bool]) -> Iterator[Trial]:
    """The trials that the database ranks above the winner, marked as lost to it, so that the winner is its best.

    Args:
        winner: of the run.
        ranked: the database's trials when those of the run are stored, best first.
        lost: whether the winner is preferred to a trial that has the shorter time; others stay as they are.
    """
    for trial in ranked:
        if trial.schedule_digest == winner.schedule_digest:
            break
        if lost(trial):
            yield replace(trial, lost_to=winner.schedule_digest)


def _decision(rounds: Sequence[Sequence[Trial]]) -> Runoff:
    """The outcome; `rounds` has the trials of the incumbent, then those of each challenger."""
    seconds = [[_seconds(trial) for trial in taken] for taken in rounds]
    ratios = [ratio_interval(ours, seconds[0], _CONFIDENCE) for ours in seconds[1:]]
    index = min(range(len(ratios)), key=lambda number: ratios[number].middle)
    incumbent, challenger = merged(rounds[0]), merged(rounds[1 + index])
    return Runoff(challenger if ratios[index].high < 1 else incumbent, incumbent, ratios[index])


def merged(rounds: Sequence[Trial]) -> Trial:
    """The last trial with the samples of all; a failed one unchanged."""
    last = rounds[-1]
    if last.status is not Status.OK:
        return last
    return replace(last, samples=tuple(sample for trial in rounds for sample in trial.samples))


def _seconds(trial: Trial) -> float:
    return trial.seconds or inf
