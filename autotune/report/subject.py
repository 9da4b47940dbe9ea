"""What a report is about: the trials of a run or of an operator, by problem and device model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autotune.db.states import TimeSource
from autotune.db.trials import Trial
from autotune.search_spaces.contract.known import ImpossibleFieldError, Known, known, possible_schedule, understood

if TYPE_CHECKING:
    from autotune.db import TuningDB


# Why each trial is left out, by what names it.
Skipped = dict[tuple[str, ...], str]


@dataclass(frozen=True)
class Group:
    """The trials of one problem on one device model with one kind of time.

    Attributes:
        known, time_source: what they have in common.
        trials: in the order in which they were made.
        best: the best of them; None if none is ok.
    """

    known: Known
    time_source: TimeSource
    trials: list[Trial]
    best: Trial | None


def groups_of(
    db: TuningDB,
    operator: str,
    compiler: str,
    run: str | None = None,
    problem: str | None = None,
    device: str | None = None,
) -> tuple[list[Group], Skipped]:
    """The groups of an operator, the largest first; of a run, a problem's key and a device model if they are given.

    Returns:
        The groups, and the trials that belong to none since they are not `possible`.

    Raises:
        DatabaseError: the database cannot be read.
    """
    trials, skipped = possible(db.trials(operator, problem, device, run=run))
    bests, _ = possible(db.bests(operator, device, compiler, run))
    return _groups(trials, bests), skipped


def possible(trials: Iterable[Trial]) -> tuple[list[Trial], Skipped]:
    """The trials whose problem and device this version knows, and whose schedule has no value that no field may have.

    Fields that a schedule had in another version are left as they are: such a trial still has its time.
    """
    about: dict[tuple[str, ...], Known | ValueError] = {}
    kept: list[Trial] = []
    skipped: Skipped = {}
    for trial in trials:
        place = trial.device.model, trial.problem.operator, trial.problem.key
        if place not in about:
            about[place] = _understood(trial)
        if why := _why_impossible(trial, about[place]):
            skipped[*place, trial.time_source, trial.schedule_digest] = why
        else:
            kept.append(trial)
    return kept, skipped


def _understood(trial: Trial) -> Known | ValueError:
    try:
        return understood(trial.problem.operator, trial.problem.fields, trial.device.limits)
    except ValueError as error:
        return error


def _why_impossible(trial: Trial, about: Known | ValueError) -> str:
    if isinstance(about, ValueError):
        return str(about)
    try:
        possible_schedule(about.operator, trial.schedule)
    except ImpossibleFieldError as error:
        return str(error)
    except ValueError:  # of another version
        pass
    return ""


def known_as(trial: Trial) -> Known | None:
    """A trial's operator, problem and device; None if they are another version's."""
    return known(trial.problem.operator, trial.problem.fields, trial.device.limits)


def _groups(newest_first: Iterable[Trial], bests: Iterable[Trial]) -> list[Group]:
    """The trials by problem, device model and kind of time."""
    found: dict[tuple[str, str, TimeSource], list[Trial]] = {}
    for trial in newest_first:
        found.setdefault(_place(trial), []).append(trial)
    best_of = {_place(best): best for best in bests}
    groups = []
    for place, trials in found.items():
        if about := known_as(trials[0]):
            best = best_of.get(place) or _fastest(trials)
            groups.append(Group(about, trials[0].time_source, trials[::-1], best))
    return sorted(groups, key=lambda group: -len(group.trials))


def _place(trial: Trial) -> tuple[str, str, TimeSource]:
    return trial.device.model, trial.problem.key, trial.time_source


def _fastest(trials: Iterable[Trial]) -> Trial | None:
    return min((trial for trial in trials if trial.ok), key=lambda trial: trial.seconds or 0.0, default=None)
