"""The final of a run: the best few are measured again, in turns with the incumbent.

The fastest of many single measurements was lucky, too. Turns meet the same clock and temperature, so that their ratios
tell the schedules apart where their times would not.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from math import inf

from ..confidence import Interval, ratio_interval
from ..db.records import LOST_TO, Trial
from ..db.states import Status, TimeSource

ROUNDS = 8  # the fewest of which a ratio's bounds are 99 % sure: the least and the greatest
_CONFIDENCE = 0.99
_CHALLENGERS = 3
# A run of fewer evaluations has no final, which would be a good part of it.
_SHORT_RUN = 3 * ROUNDS * (1 + _CHALLENGERS)


@dataclass(frozen=True)
class Final:
    """How a final ended.

    Attributes:
        winner: the challenger that is surely faster than the incumbent, or the incumbent: a tie keeps it.
        incumbent: the best trial before the run, or of a first run the one that looked best.
        ratio: the best challenger's time over the incumbent's; below 1 it is faster. The bounds are 99 % sure.
    """

    winner: Trial
    incumbent: Trial
    ratio: Interval


def fastest(trials: Iterable[Trial]) -> list[Trial]:
    """The few fastest ok trials, the fastest first."""
    ok = (trial for trial in trials if trial.status is Status.OK and trial.seconds is not None)
    return nsmallest(1 + _CHALLENGERS, ok, key=_seconds)


def finalists(incumbent: Trial | None, few: Sequence[Trial], evaluated: int) -> list[Trial]:
    """Whom to measure again, the incumbent first; nobody if that would not pay, or changes nothing.

    Args:
        incumbent: the best trial before the run.
        few: the `fastest` of the run.
        evaluated: how many trials the run made.
    """
    if evaluated < _SHORT_RUN or any(trial.time_source is TimeSource.MODELLED for trial in few):
        return []
    found = [incumbent, *few[:_CHALLENGERS]] if incumbent else [*few]
    return found if len(found) > 1 else []


def play(listed: Sequence[Trial], evaluate: Callable[[Trial], Trial]) -> tuple[Final | None, list[Trial]]:
    """Measure the finalists in turns.

    Args:
        listed: the incumbent, then its challengers.
        evaluate: measures a trial's schedule again.

    Returns:
        How it ended, None if fewer than two were left; and the finalists' trials with the samples of all turns. One
        that fails drops out with its failure; for an incumbent the next one stands in.
    """
    turns: list[list[Trial]] = [[] for _ in listed]
    for _ in range(ROUNDS):
        for taken, trial in zip(turns, listed, strict=True):
            if not taken or taken[-1].status is Status.OK:
                taken.append(evaluate(trial))
    left = [taken for taken in turns if taken[-1].status is Status.OK]
    return _decided(left) if len(left) > 1 else None, [_together(taken) for taken in turns]


def beaten(winner: Trial, ranked: Iterable[Trial], compared: Container[str]) -> Iterator[Trial]:
    """What is to be stored for the winner to be the best in the database, too: the trials before it, as lost.

    They are the finalists whose median is the shorter one by chance, and those that were slower than these.

    Args:
        winner: of the final.
        ranked: the database's trials when those of the final are stored, best first.
        compared: the schedules' digests of the run and of what it went on from; others stay as they are.
    """
    for trial in ranked:
        if trial.schedule_digest == winner.schedule_digest:
            break
        if trial.schedule_digest in compared:
            yield replace(trial, environment={**trial.environment, LOST_TO: winner.schedule_digest})


def _decided(turns: Sequence[Sequence[Trial]]) -> Final:
    """Who wins: `turns` has the trials of the incumbent, then those of each challenger."""
    seconds = [[_seconds(trial) for trial in taken] for taken in turns]
    ratios = [ratio_interval(ours, seconds[0], _CONFIDENCE) for ours in seconds[1:]]
    place = min(range(len(ratios)), key=lambda number: ratios[number].middle)
    incumbent, challenger = _together(turns[0]), _together(turns[1 + place])
    return Final(challenger if ratios[place].high < 1 else incumbent, incumbent, ratios[place])


def _together(turns: Sequence[Trial]) -> Trial:
    """The last trial with the samples of all, or as it is if it failed."""
    last = turns[-1]
    if last.status is not Status.OK:
        return last
    return replace(last, samples=tuple(sample for trial in turns for sample in trial.samples))


def _seconds(trial: Trial) -> float:
    return trial.seconds or inf
