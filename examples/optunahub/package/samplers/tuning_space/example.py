"""Minimise a function of tuning parameters, of which some combinations are known to be impossible."""

from __future__ import annotations

import optuna
import optunahub
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

SPACE = {
    "block": CategoricalDistribution([32, 64, 128, 256]),
    "tile": IntDistribution(1, 16),
    "layout": CategoricalDistribution(["row", "column"]),
    "share": FloatDistribution(0.1, 1.0),
}


def seconds(trial: optuna.Trial) -> float:
    """Something to minimise: the fastest is a block of 128 with tiles of 6."""
    block, tile = trial.params["block"], trial.params["tile"]
    slow = abs(block - 128) / 128 + abs(tile - 6) / 6 + (trial.params["layout"] == "row")
    return 1e-3 * (1 + slow + (trial.params["share"] - 0.5) ** 2)


module = optunahub.load_local_module(package="samplers/tuning_space", registry_root="./package/")
sampler = module.TuningSpaceSampler(SPACE, satisfied=lambda drawn: drawn["block"] * drawn["tile"] <= 1024)
study = optuna.create_study(sampler=sampler)
for _ in range(40):
    trial = study.ask(SPACE)
    study.tell(trial, seconds(trial))
print(study.best_value, study.best_params)
