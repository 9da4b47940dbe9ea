"""Fit the coefficients of a section of the time model to measured times.

A measured schedule says how long it takes. A problem's fastest says something of others, too: the candidates were tried
first, and none was faster. So a fit is a regression whose residuals are one-sided for candidates without a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import exp, log
from statistics import fmean
from typing import Any, cast

import numpy as np

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.states import TimeSource
from autotune.db.trials import Trial
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.contract.registry import operator as operator_of
from autotune.search_spaces.machine.coefficients import Coefficients, trying
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec

_HELD_OUT = 3  # one problem of so many, by the hash of its key
_OUTLIER = 0.15  # log error beyond which a trial pulls less and less
_TRUST = 0.1  # weight of staying with a coefficient of today, beside that of a problem: a few say little
_STEP = 0.01  # relative change of a coefficient by which its effect is found out
_MOST_STEPS = 30  # evaluations of the residuals, beside those for derivatives
_CANDIDATE = 1 / 8  # weight of a candidate, beside that of a problem
_ANOTHER = 1.5  # ratio of all coefficients by which it is found out whether a section matters to a trial


@dataclass(frozen=True)
class Timed:
    """A schedule of a problem on a device.

    Attributes:
        seconds: how long it was measured to take; of a candidate without a time, at least.
        candidate: whether it is one.
    """

    operator: Operator[Any, Any]
    problem: Problem
    schedule: Schedule
    spec: DeviceSpec
    seconds: float
    candidate: bool = False

    @property
    def setting(self) -> tuple[str, str, str]:
        """What other schedules share that compute the same there."""
        return self.operator.name, self.problem.key, self.spec.name

    @property
    def held_out(self) -> bool:
        """Whether it judges a fit rather than makes it."""
        return hashlib.sha256(self.problem.key.encode()).digest()[0] % _HELD_OUT == 0

    @property
    def modelled(self) -> float:
        """Its modelled time."""
        return modelled_seconds(self.operator, self.problem, self.schedule, self.spec)

    @property
    def error(self) -> float:
        """The logarithm of modelled over measured time; of a candidate, 0 if it is modelled to take longer."""
        found = log(self.modelled / self.seconds)
        return min(0.0, found) if self.candidate else found


@dataclass(frozen=True)
class Residuals:
    """How far modelled times are from measured ones. Each problem counts the same.

    Attributes:
        trials, problems: how many there are.
        error: the geometric mean of the ratio of the longer to the shorter of the two times.
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


def operators_of(section: str) -> list[str]:
    """The operators whose workloads count with a section: all of them if it is of no kernel alone.

    Raises:
        ValueError: no such section; the message lists those that there are.
    """
    found = {name: operator_of(name) for name in OPERATORS}
    if section not in _sections():
        raise ValueError(f"unknown section {section!r}; known: {', '.join(sorted(_sections()))}")
    own = _sections()[section].__module__
    return [
        name for name, one in found.items() if any(kernel.workload.__module__ == own for kernel in one.kernels)
    ] or list(found)


def _sections() -> dict[str, type[Coefficients]]:
    return {kind.section: kind for kind in Coefficients.__subclasses__()}


def timed(trials: Iterable[Trial]) -> tuple[list[Timed], dict[str, int]]:
    """The measured schedules that are legal today, the shortest time of each; how many trials are left out, and why."""
    found: dict[tuple[Any, ...], Timed] = {}
    left_out: dict[str, int] = {}
    for trial in trials:
        one = _read(trial)
        if isinstance(one, str):
            left_out[one] = left_out.get(one, 0) + 1
            continue
        key = *one.setting, one.schedule
        if key not in found or one.seconds < found[key].seconds:
            found[key] = one
    return list(found.values()), left_out


def with_candidates(known: Sequence[Timed], section: str) -> list[Timed]:
    """The schedules, and the candidates of their problems that have no time: none is faster than the fastest.

    Those that another kernel's section decides on count, too; of a section of all kernels, they are too many.
    """
    if len(operators_of(section)) == len(OPERATORS):
        return list(known)
    fastest: dict[tuple[str, str, str], Timed] = {}
    for one in known:
        if one.setting not in fastest or one.seconds < fastest[one.setting].seconds:
            fastest[one.setting] = one
    measured = {(*one.setting, one.schedule) for one in known}
    return [
        *known,
        *(
            replace(best, schedule=schedule, candidate=True)
            for setting, best in fastest.items()
            for schedule in dict.fromkeys(one.shape_generic for one in best.operator.seeds(best.problem, best.spec))
            if (*setting, schedule) not in measured
        ),
    ]


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
    kind = _sections()[section]
    now: Any = kind.of(known[0].spec)
    names = [one.name for one in fields(cast(Any, kind)) if getattr(now, one.name) > 0]
    settings = {one.setting for one in known if _matters(now, names, one)}
    matter = [one for one in known if one.setting in settings]
    making, judging = ([one for one in matter if one.held_out is held] for held in (False, True))
    if not making or not judging:
        raise ValueError(
            f"{section} matters to {len(making)} of {len(known)} schedules that could fit it and to {len(judging)} "
            "that could judge it: expected some of each"
        )
    affected = [one for one in making if _matters(now, names, one)]
    weights = _weights(affected)

    def changed(logarithms: Iterable[float]) -> Any:
        return _changed(now, {name: exp(value) for name, value in zip(names, logarithms, strict=True)})

    def residuals(logarithms: Any) -> Any:
        with trying(changed(logarithms)):
            errors = np.array([one.error for one in affected])
        return np.concatenate([weights * errors / _OUTLIER, np.sqrt(_TRUST) * np.asarray(logarithms)])

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
    by_setting: dict[tuple[str, str, str], list[tuple[float, Timed]]] = {}
    for one in known:
        by_setting.setdefault(one.setting, []).append((one.modelled, one))
    errors, choices, overtaken = [], [], []
    for times in by_setting.values():
        measured = [(modelled, one.seconds) for modelled, one in times if not one.candidate]
        errors.append(fmean(abs(log(modelled / seconds)) for modelled, seconds in measured))
        fastest = min(measured, key=lambda pair: pair[1])
        if len(measured) > 1:
            choices.append(log(min(measured)[1] / fastest[1]))
        overtaken.append(log(fastest[0] / min(modelled for modelled, _ in times)))
    trials = sum(not one.candidate for one in known)
    choice = exp(fmean(choices)) if choices else None
    return Residuals(trials, len(by_setting), exp(fmean(errors)), choice, exp(fmean(overtaken)))


def _read(trial: Trial) -> Timed | str:
    if trial.time_source is not TimeSource.MEASURED:
        return "modelled"
    if not trial.ok or trial.seconds is None:
        return f"{trial.status}"
    try:
        operator = operator_of(trial.problem.operator)
        problem = operator.problem_type.from_dict(trial.problem.fields)
        schedule, spec = operator.schedule(trial.schedule), device_spec(trial.device.limits)
    except ValueError:
        return "of another version"
    if operator.violations(problem, schedule, spec):
        return "illegal today"
    return Timed(operator, problem, schedule, spec, trial.seconds)


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
