"""Fit the coefficients of a section of the time model to measured times.

A measured schedule says how long it takes. A problem's fastest says something of others, too: the candidates were tried
first, and none was faster. So a fit is a regression whose residuals are one-sided for candidates without a time.

The model is there to choose, and what it is wrong about all schedules of a problem alike changes no choice. So half of
the mean error of a problem's schedules is subtracted from the error of each, and what its choices lose counts, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import exp, log
from statistics import fmean
from typing import Any, cast

import numpy as np

from autotune.search_spaces.machine.coefficients import Coefficients, trying

from .timed_schedules import Timed, operators_of, sections

_OUTLIER = 0.15  # log error beyond which a trial pulls less and less
_TRUST = 0.03  # weight of staying with a coefficient of today, beside that of a problem: a few say little
_STEP = 0.01  # relative change of a coefficient by which its effect is found out
_MOST_STEPS = 30  # evaluations of the residuals, beside those for derivatives
_CANDIDATE = 1 / 8  # weight of a candidate, beside that of a problem
_SHARED = 0.5  # share of the error that all schedules of a problem have in common which counts for nothing
_BLUR = 0.03  # log error of modelled times with which a choice is averaged
_ANOTHER = 1.5  # ratio of all coefficients by which it is found out whether a section matters to a trial


@dataclass(frozen=True)
class Residuals:
    """How far modelled times are from measured ones. Each problem counts the same.

    Attributes:
        trials, problems: how many there are.
        error: the geometric mean of the ratio of the longer to the shorter of the two times, beside what the schedules
            of a problem have in common.
        choice: the geometric mean of how much longer than a problem's fastest schedule that takes which the model finds
            fastest of those measured; None if no problem has two.
        overtaken: the geometric mean of how much longer than the fastest of the candidates, by the model, a problem's
            fastest schedule takes by the model: 1 if the model would choose it.
    """

    trials: int
    problems: int
    error: float
    choice: float | None
    overtaken: float


@dataclass(frozen=True)
class Fit:
    """What a fit found.

    Attributes:
        fitted_to: the trials, for people.
        before, values: the coefficients, and those that were fitted.
        fitted, held_out: residuals before and after, of the problems that made the fit and of those that did not.
        left_out: how many trials were not used, by the reason.
    """

    section: str
    fitted_to: str
    before: Mapping[str, float]
    values: Mapping[str, float]
    fitted: tuple[Residuals, Residuals]
    held_out: tuple[Residuals, Residuals]
    left_out: Mapping[str, int]

    @property
    def better(self) -> bool:
        """Whether held-out problems are modelled better in one respect, and worse in none."""
        before, after = ((one.error, one.choice or 1.0, one.overtaken) for one in self.held_out)
        return after != before and all(new <= old for new, old in zip(after, before, strict=True))


def fitted(section: str, known: Sequence[Timed], left_out: Mapping[str, int]) -> Fit:
    """The coefficients of a section that model the measured times best; all others stay as they are.

    Times are compared by their logarithms. Schedules near the fastest of their problem weigh more, and outliers less
    (soft L1, `scipy.optimize.least_squares`). A coefficient that is 0 stays 0.

    Raises:
        ValueError: the section matters to no trial that could make the fit, or to none that could judge it.
    """
    from scipy.optimize import least_squares

    if not known:
        raise ValueError(f"no measured trial of {', '.join(operators_of(section))}: expected some to fit {section} to")
    kind = sections()[section]
    now: Any = kind.of(known[0].spec)
    names = [one.name for one in fields(cast(Any, kind)) if getattr(now, one.name) > 0]
    mattering = {one.setting for one in known if _matters(now, names, one)}
    matter = [one for one in known if one.setting in mattering]
    making, judging = ([one for one in matter if one.held_out is held] for held in (False, True))
    if not making or not judging:
        raise ValueError(
            f"{section} matters to {len(making)} of {len(known)} schedules that could fit it and to {len(judging)} "
            "that could judge it: expected some of each"
        )
    affected = [one for one in making if _matters(now, names, one)]
    weights, settings = _weights(affected), _Settings(affected)

    def changed(logarithms: Iterable[float]) -> Any:
        return _changed(now, {name: exp(value) for name, value in zip(names, logarithms, strict=True)})

    def residuals(logarithms: Any) -> Any:
        with trying(changed(logarithms)):
            modelled = np.log([one.modelled for one in affected])
        errors, losses = settings.errors(modelled), settings.losses(modelled)
        parts = weights * errors / _OUTLIER, np.sqrt(losses / _OUTLIER), np.sqrt(_TRUST) * np.asarray(logarithms)
        return np.concatenate(parts)

    found = least_squares(residuals, np.zeros(len(names)), loss="soft_l1", diff_step=_STEP, max_nfev=_MOST_STEPS)
    values = {name: float(f"{getattr(changed(found.x), name):.4g}") for name in names}
    before = judged(making), judged(judging)
    with trying(replace(now, **values)):
        after = judged(making), judged(judging)
    unaffected = sum(not one.candidate for one in known) - sum(not one.candidate for one in matter)
    devices = sorted({one.spec.name for one in matter})
    return Fit(
        section,
        f"{before[0].trials} schedules of {before[0].problems} problems on {' and '.join(devices)}",
        {name: getattr(now, name) for name in names},
        values,
        (before[0], after[0]),
        (before[1], after[1]),
        {**left_out, "the section does not matter": unaffected} if unaffected else left_out,
    )


def judged(known: Sequence[Timed]) -> Residuals:
    """The residuals of some schedules by the coefficients in force."""
    by_setting: dict[tuple[str, str, str], list[tuple[float, float, Timed]]] = {}
    modelled = [one.modelled for one in known]
    for one, seconds, error in zip(known, modelled, _Settings(known).errors(np.log(modelled)), strict=True):
        by_setting.setdefault(one.setting, []).append((seconds, error, one))
    errors, choices, overtaken = [], [], []
    for found in by_setting.values():
        errors.append(fmean(abs(error) for _, error, one in found if not one.candidate))
        measured = [(modelled, one.seconds) for modelled, _, one in found if not one.candidate]
        fastest = min(measured, key=lambda pair: pair[1])
        if len(measured) > 1:
            choices.append(log(min(measured)[1] / fastest[1]))
        overtaken.append(log(fastest[0] / min(modelled for modelled, *_ in found)))
    trials = sum(not one.candidate for one in known)
    choice = exp(fmean(choices)) if choices else None
    return Residuals(trials, len(by_setting), exp(fmean(errors)), choice, exp(fmean(overtaken)))


class _Settings:
    """What measured times say of modelled ones, problem by problem.

    Args:
        known: schedules, of which some are candidates.
    """

    def __init__(self, known: Sequence[Timed]) -> None:
        numbers: dict[tuple[str, str, str], int] = {}
        self._of = np.array([numbers.setdefault(one.setting, len(numbers)) for one in known])
        self._candidate = np.array([one.candidate for one in known])
        self._seconds = np.array([one.seconds for one in known])
        self._fastest = np.full(len(numbers), np.inf)
        np.minimum.at(self._fastest, self._of, self._seconds)

    def errors(self, modelled: Any) -> Any:
        """Logarithms of modelled over measured times, beside what those of each problem have in common.

        A candidate's is 0 where it is modelled to take longer than the fastest.

        Args:
            modelled: logarithms of the modelled times.
        """
        errors = modelled - np.log(self._seconds)
        count = np.maximum(np.bincount(self._of, ~self._candidate), 1)
        common = np.bincount(self._of, np.where(self._candidate, 0.0, errors)) / count
        errors = errors - _SHARED * common[self._of]
        return np.where(self._candidate, np.minimum(errors, 0.0), errors)

    def losses(self, modelled: Any) -> Any:
        """For each problem, how much longer than its fastest schedule the model's choice takes, as a share.

        The model is as likely to choose a schedule as if each of its times were off by about `_BLUR`, so that a loss
        changes smoothly with the coefficients. Candidates have no time, and are not chosen.
        """
        least = np.full(len(self._fastest), np.inf)
        np.minimum.at(least, self._of, np.where(self._candidate, np.inf, modelled))
        chosen = np.where(self._candidate, 0.0, np.exp((least[self._of] - modelled) / _BLUR))
        longer = self._seconds / self._fastest[self._of] - 1
        return np.bincount(self._of, chosen * longer) / np.maximum(np.bincount(self._of, chosen), 1e-9)


def _changed(now: Any, factors: Mapping[str, float]) -> Any:
    return replace(now, **{name: getattr(now, name) * factor for name, factor in factors.items()})


def _matters(now: Coefficients, names: Sequence[str], one: Timed) -> bool:
    before = one.modelled
    with trying(_changed(now, dict.fromkeys(names, _ANOTHER))):
        return one.modelled != before


def _weights(known: Sequence[Timed]) -> Any:
    """Square roots of weights: those of measured schedules add up to 1 for each problem, more for those near its best.

    A candidate has an eighth: several at once are rarely modelled too fast.
    """
    best: dict[tuple[str, str, str], float] = {}
    for one in known:
        best[one.setting] = min(one.seconds, best.get(one.setting, one.seconds))
    total: dict[tuple[str, str, str], float] = {}
    for one in known:
        if not one.candidate:
            total[one.setting] = total.get(one.setting, 0.0) + best[one.setting] / one.seconds
    return np.sqrt(
        [_CANDIDATE if one.candidate else best[one.setting] / one.seconds / total[one.setting] for one in known]
    )
