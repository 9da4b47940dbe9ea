"""The fewest kernels that serve every tuned problem nearly as fast as its best one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autotune.codegen.model.program import SOURCE_DIGITS

from .states import Status, TimeSource
from .trials import Trial


@dataclass(frozen=True)
class SelectedKernel:
    """A kernel of the reduced set, and what it serves.

    Attributes:
        trials: its own on each problem that it serves.
        losses: for each of them, how much slower it is than the problem's best, as a share of the best time.
    """

    trials: tuple[Trial, ...]
    losses: tuple[float, ...]


def reduced(trials: Iterable[Trial], max_slowdown: float, compiler: str | None = None) -> list[SelectedKernel]:
    """Kernels that serve every problem with a loss of at most `max_slowdown`, those that serve most first.

    A kernel is a source: a shape-specialised schedule has one for each shape. Repeatedly taking the one that serves
    most of the problems left needs at most 1 + ln(problems) times as many as the optimum
    (Chvátal, A Greedy Heuristic for the Set-Covering Problem, 1979). Each problem
    is then served by the fastest of the selected kernels.

    Args:
        trials: of one operator on one device model, newest first; failed ones and repetitions are ignored, and
            modelled ones if any is measured.
        max_slowdown: 0.05 for 5 %.
        compiler: if it has trials of a problem, other compilers' are ignored, as in `TuningDB.best`.
    """
    times = _times(list(trials), compiler)
    best = {key: min(by_schedule.values(), key=_seconds) for key, by_schedule in times.items()}
    serving: dict[str, set[str]] = {}
    for key, by_schedule in times.items():
        for trial in by_schedule.values():
            if _seconds(trial) <= _seconds(best[key]) * (1 + max_slowdown):
                serving.setdefault(_kernel(trial), set()).add(key)
    kernels: list[str] = []
    left = set(times)
    while left:
        kernels.append(max(serving, key=lambda kernel: (len(serving[kernel] & left), kernel)))
        left -= serving[kernels[-1]]
    fastest = {key: min((t for t in times[key].values() if _kernel(t) in kernels), key=_seconds) for key in times}
    selected = [_selected([t for t in fastest.values() if _kernel(t) == kernel], best) for kernel in kernels]
    return sorted((one for one in selected if one.trials), key=lambda one: -len(one.trials))


def _kernel(trial: Trial) -> str:
    return trial.program_digest[:SOURCE_DIGITS] or trial.schedule_digest


def _selected(trials: list[Trial], best: Mapping[str, Trial]) -> SelectedKernel:
    losses = tuple(_seconds(trial) / _seconds(best[trial.problem.key]) - 1 for trial in trials)
    return SelectedKernel(tuple(trials), losses)


def _times(listed: Sequence[Trial], compiler: str | None) -> dict[str, dict[str, Trial]]:
    """The verdict on each schedule of each problem, by the problem's key and the schedule's digest; ok ones only."""
    measured = any(trial.status is Status.OK and trial.time_source is TimeSource.MEASURED for trial in listed)
    source = TimeSource.MEASURED if measured else TimeSource.MODELLED
    ok = [trial for trial in listed if trial.status is Status.OK and trial.time_source is source]
    own = {trial.problem.key for trial in ok if trial.compiler == compiler}
    times: dict[str, dict[str, Trial]] = {}
    for trial in listed:
        if trial.time_source is source and (trial.compiler == compiler or trial.problem.key not in own):
            times.setdefault(trial.problem.key, {}).setdefault(trial.schedule_digest, trial)
    passed = {key: {d: t for d, t in by.items() if t.status is Status.OK} for key, by in times.items()}
    return {key: by_schedule for key, by_schedule in passed.items() if by_schedule}


def _seconds(trial: Trial) -> float:
    assert trial.seconds is not None  # an ok trial has samples
    return trial.seconds
