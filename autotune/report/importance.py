"""Which fields of the schedule matter, by Optuna's evaluators on the stored trials."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from optuna import create_study
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.importance import (
    BaseImportanceEvaluator,
    FanovaImportanceEvaluator,
    PedAnovaImportanceEvaluator,
    get_param_importances,
)
from optuna.trial import create_trial

from autotune.base.optuna_log import quiet_optuna
from autotune.codegen.model.integers import ceil_div

from .trial_table import FEWEST_IMPORTANT

_MOST, _MOST_FANOVA = 2000, 300  # trials, for a second each
_TREES = 32


@quiet_optuna()
def importances(table: dict[str, Any]) -> list[dict[str, Any]]:
    """The importance of each field that differs among the trials with a time, by each evaluator that is installed.

    Args:
        table: as `trial_table` makes it.

    Returns:
        JSON values: of each evaluator ``name``, ``tells`` (what its figures mean), and ``shares`` by field, which add
        up to 1. None of too few trials, or if all have the same schedule.
    """
    timed = [row for row, micros in enumerate(table["micros"]) if micros and table["fields"][0]["codes"][row] >= 0]
    fields = [field for field in table["fields"] if len({field["codes"][row] for row in timed}) > 1]
    if len(timed) < FEWEST_IMPORTANT or not fields:
        return []
    distributions = {field["name"]: _distribution(field) for field in fields}
    trials = [
        create_trial(
            params={field["name"]: _parameter(field, row) for field in fields},
            distributions=distributions,
            value=table["micros"][row],
        )
        for row in timed
    ]
    return [
        _evaluated(name, tells, evaluator, trials[:: ceil_div(len(trials), most)])
        for name, tells, evaluator, most in _evaluators()
    ]


def _evaluators() -> list[tuple[str, str, BaseImportanceEvaluator, int]]:
    """Name, meaning, evaluator, and how many trials it is given at most."""
    found: list[tuple[str, str, BaseImportanceEvaluator, int]] = [
        ("PED-ANOVA", "what sets the fastest tenth apart from all trials", PedAnovaImportanceEvaluator(), _MOST)
    ]
    if find_spec("sklearn"):
        tells = "share of the variance of all times"
        found.append(("fANOVA", tells, FanovaImportanceEvaluator(n_trees=_TREES, seed=0), _MOST_FANOVA))
    return found


def _evaluated(name: str, tells: str, evaluator: BaseImportanceEvaluator, trials: list[Any]) -> dict[str, Any]:
    study = create_study()
    study.add_trials(trials)
    shares = get_param_importances(study, evaluator=evaluator)
    return {"name": name, "tells": tells, "shares": {field: round(float(share), 4) for field, share in shares.items()}}


def _distribution(field: dict[str, Any]) -> BaseDistribution:
    """Numbers are drawn by their position, as in a search."""
    if all(type(value) is int for value in field["values"]):
        return IntDistribution(0, len(field["values"]) - 1)
    return CategoricalDistribution(field["values"])


def _parameter(field: dict[str, Any], row: int) -> Any:
    code = field["codes"][row]
    return code if all(type(value) is int for value in field["values"]) else field["values"][code]
