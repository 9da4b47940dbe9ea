"""Time against energy: the schedules than which none takes both less time and less energy."""

from __future__ import annotations

from collections.abc import Sequence

import optuna

from autotune.base.optuna_log import quiet_optuna
from autotune.db.trials import Trial


@quiet_optuna()
def front(trials: Sequence[Trial]) -> list[int]:
    """The positions of the trials on the Pareto front, as a study of Optuna with both values finds it.

    Args:
        trials: those without a time or an energy are passed over.
    """
    study = optuna.create_study(directions=["minimize", "minimize"])
    for position, trial in enumerate(trials):
        if trial.ok and trial.joules:
            values = [trial.seconds or 0.0, trial.joules]
            study.add_trial(optuna.trial.create_trial(values=values, user_attrs={"position": position}))
    return sorted(trial.user_attrs["position"] for trial in study.best_trials)
