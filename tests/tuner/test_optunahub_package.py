"""The package for OptunaHub: any space, with its constraints."""

import importlib.util
from math import inf
from pathlib import Path

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from autotune.base.optuna_log import quiet_optuna

PACKAGE = Path(__file__).parents[2] / "examples" / "optunahub" / "package" / "samplers" / "tuning_space"
SPACE = {
    "block": CategoricalDistribution([32, 64, 128, 256]),
    "tile": IntDistribution(1, 16),
    "layout": CategoricalDistribution(["row", "column"]),
    "rate": FloatDistribution(1e-3, 1.0, log=True),
}


@pytest.fixture(scope="module")
def package():
    spec = importlib.util.spec_from_file_location("tuning_space", PACKAGE / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def quiet():
    with quiet_optuna():
        yield


def satisfied(drawn):
    return drawn["block"] * drawn["tile"] <= 1024


def cost(drawn):
    return 1 + abs(drawn["block"] - 128) / 128 + abs(drawn["tile"] - 6) / 6 + (drawn["layout"] == "row")


def test_it_learns_and_keeps_the_constraints(package):
    study = optuna.create_study(sampler=package.TuningSpaceSampler(SPACE, satisfied))
    for number in range(35):
        trial = study.ask(SPACE)
        assert satisfied(trial.params)
        study.tell(trial, inf if number % 7 == 3 else cost(trial.params))
    found = [tuple(trial.params.values()) for trial in study.trials]
    assert len(set(found)) == len(found)
    assert study.best_value < 1.2, "one of 100 random draws is as good"


def test_an_objective_may_suggest_the_parameters(package):
    few = {"tile": IntDistribution(2, 8, step=2), "way": CategoricalDistribution([None, "a"])}
    study = optuna.create_study(sampler=package.TuningSpaceSampler(few))

    def objective(trial):
        return trial.suggest_int("tile", 2, 8, step=2) + (trial.suggest_categorical("way", [None, "a"]) is None)

    study.optimize(objective, n_trials=8)
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 8
    assert study.best_value == 2


def test_a_trial_off_the_levels_counts_as_the_nearest(package):
    space = {"rate": FloatDistribution(0.0, 1.0), "step": IntDistribution(0, 1000)}
    study = optuna.create_study(sampler=package.TuningSpaceSampler(space))
    study.enqueue_trial({"rate": 0.123456, "step": 777})
    for _ in range(6):
        trial = study.ask(space)
        study.tell(trial, 1 + trial.params["rate"])
    assert study.trials[0].params == {"rate": 0.123456, "step": 777}
    assert study.best_value < 1.5


@pytest.mark.parametrize(
    ("distribution", "levels"),
    [
        (IntDistribution(3, 3), (3,)),
        (IntDistribution(1, 16, log=True), (1, 2, 4, 8, 16)),
        (FloatDistribution(0.0, 1.0, step=0.25), (0.0, 0.25, 0.5, 0.75, 1.0)),
        (CategoricalDistribution(["b", "a"]), ("b", "a")),
    ],
)
def test_the_levels_of_a_distribution(package, distribution, levels):
    found = package._levels("x", distribution)
    assert set(levels) <= set(found)
    assert all(distribution._contains(distribution.to_internal_repr(value)) for value in found)
    assert len(found) <= 64


def test_the_page_names_what_there_is(package):
    page = (PACKAGE / "README.md").read_text()
    assert page.startswith("---\n")
    assert all(name in page for name in package.__all__)
