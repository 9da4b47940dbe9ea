"""The race of a session's kernels: one that cannot win is not sampled further, as a pruner of Optuna decides."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from optuna import Study, create_study
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial

from autotune.base.confidence import lower_bound_exceeds
from autotune.base.optuna_log import quiet_optuna

_FAR = 1.5  # more than two samples of one kernel differ on a clock that is not quite steady


class SlowerPruner(BasePruner):
    """Prunes a trial whose value is the median of its intermediate values, and surely above the best trial's.

    That is so when the lower 99 % bound of the median is.
    """

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """See `BasePruner`."""
        with suppress(ValueError):  # no trial is complete
            return lower_bound_exceeds([*trial.intermediate_values.values()], study.best_value)
        return False


class Race:
    """The kernels that were timed, one after the other, as a study in memory.

    A trial's intermediate values are the seconds of its samples, its value is their median.

    Args:
        pruner: decides; by default `SlowerPruner`.
    """

    def __init__(self, pruner: BasePruner | None = None) -> None:
        with quiet_optuna():
            self._study = create_study(pruner=pruner or SlowerPruner())

    def start(self) -> None:
        """A kernel is about to be sampled; one before it that did not finish is out of the race."""
        self._trial, self._taken = self._study.ask(), 0

    def prune(self, samples: Sequence[float]) -> bool:
        """Whether the kernel needs no more samples than these and those before."""
        for sample in samples:
            self._trial.report(sample, self._taken)
            self._taken += 1
        return self._trial.should_prune()

    def hopeless(self, samples: Sequence[float]) -> bool:
        """Whether samples on a clock that may not be steady yet are all far above the best kernel's time."""
        with suppress(ValueError):  # no kernel has finished
            return min(samples) > _FAR * self._study.best_value
        return False

    def finish(self, seconds: float) -> None:
        """The kernel is right, and takes so long."""
        self._study.tell(self._trial, seconds)
