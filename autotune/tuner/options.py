"""Options, progress and result of a tuning run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as short

from autotune.base.markup import Bar, facts
from autotune.db.states import Objective, Status
from autotune.db.trials import Trial

from .runoff import Runoff
from .search.samplers import BAYES, SAMPLERS, missing

_LONGEST_NAME = 100


@dataclass(frozen=True)
class TuneOptions:
    """How long to look, and how.

    Attributes:
        trials: new evaluations at most; schedules that the database knows already do not count.
        seconds: end after the evaluation that passes this time; None sets no limit.
        patience: end after so many evaluations without a better schedule; None sets no limit.
        objective: what is minimised; energy needs a device that measures it, as ``worker_device("0", energy=True)``.
        only, exclude: which schedules are looked at, see `asked_for`; None means all.
        sampler: what proposes schedules, one of `SAMPLERS`.
        seed: of the sampler and of the problem's random inputs.
        compile_workers: processes that compile ahead; None means one for each CPU.
        study: a name for the study, which tuners share that give the same one; None for the study of the problem.

    Raises:
        TypeError, ValueError: one line that says what is allowed.
    """

    trials: int = 200
    seconds: float | None = None
    sampler: str = BAYES
    seed: int = 0
    compile_workers: int | None = None
    study: str | None = None
    patience: int | None = None
    objective: Objective = Objective.TIME
    only: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("trials", "seed", "compile_workers", "patience"):
            value = getattr(self, name)
            if type(value) is not int and not (value is None and name in ("compile_workers", "patience")):
                raise TypeError(f"{name}={value!r}: expected a whole number")
        if self.objective not in list(Objective):
            raise ValueError(f"objective={self.objective!r}: expected one of {', '.join(Objective)}")
        object.__setattr__(self, "objective", Objective(self.objective))
        if not isinstance(self.seconds, int | float | None):
            raise TypeError(f"seconds={self.seconds!r}: expected a number, or None")
        if not isinstance(self.study, str | None):
            raise TypeError(f"study={self.study!r}: expected a name, or None")
        if self.trials < 1:
            raise ValueError(f"trials={self.trials}: expected 1 or more")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience={self.patience}: expected 1 or more")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds={self.seconds}: expected more than 0")
        if self.sampler not in SAMPLERS:
            raise ValueError(f"unknown sampler {self.sampler!r}; known: {', '.join(SAMPLERS)}")
        if why := missing(self.sampler):
            raise ValueError(why)
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed={self.seed}: expected 0 … {2**31 - 1}")
        if self.compile_workers is not None and self.compile_workers < 1:
            raise ValueError(f"compile_workers={self.compile_workers}: expected 1 or more")
        if self.study is not None and not 0 < len(self.study) <= _LONGEST_NAME:
            raise ValueError(f"study={short(self.study)}: expected a name of 1 to {_LONGEST_NAME} characters")


@dataclass(frozen=True)
class Progress:
    """Sent after each evaluation, when its trial is stored.

    Attributes:
        trial: the trial just stored.
        done: evaluations of this run, this one included.
        budget: evaluations that the run may make.
        elapsed: seconds since the run began.
        best: the best ok trial so far, of this run and of those it goes on from.
        under_way: candidates that are being compiled, or wait for the device.
    """

    trial: Trial
    done: int
    budget: int
    elapsed: float
    best: Trial | None
    under_way: int = 0


@dataclass(frozen=True)
class TuneResult:
    """How a run ended.

    Attributes:
        best: the winner of the runoff; without one the fastest ok trial of this run and of those it went on from, None
            if there is none.
        evaluated: evaluations of this run.
        known: trials in the database that the run went on from.
        by_status: how many of the run's evaluations ended in which way.
        illegal: draws that were rejected before they were emitted, which are no evaluations and are not stored.
        seconds: how long the run took.
        exhausted: whether no legal schedule was left to propose.
        interrupted: whether Ctrl-C or SIGTERM ended it.
        runoff: how the runoff ended; None if there was none.
        error: of the last evaluation that failed; empty if none did.
    """

    best: Trial | None
    evaluated: int
    known: int
    by_status: Mapping[Status, int]
    illegal: int
    seconds: float
    exhausted: bool
    interrupted: bool
    runoff: Runoff | None = None
    error: str = ""

    @property
    def failed(self) -> int:
        """Evaluations that did not end with `Status.OK`."""
        return sum(count for status, count in self.by_status.items() if status is not Status.OK)

    def _repr_html_(self) -> str:
        """The result in a notebook: how the evaluations ended, and the winner."""
        counts = [(status, Bar(count / self.evaluated, str(count))) for status, count in self.by_status.items()]
        title = f"{self.evaluated} evaluations in {self.seconds:.0f} s; {self.known} known before"
        return facts(title, counts) + (self.best._repr_html_() if self.best else "")
