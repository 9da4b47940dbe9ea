"""The Gaussian process: its gradient, what it learns, and what it believes of what it has not seen."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from autotune.search_spaces.contract.space import Parameter, Space
from autotune.tuner.search import posterior as module
from autotune.tuner.search.gaussian_process import Encoding, GaussianProcess
from autotune.tuner.search.posterior import Posterior

PARAMETERS = (
    Parameter("size", (1, 2, 4, 8, 16)),
    Parameter("word", ("a", "b", "c")),
    Parameter("flag", (False, True)),
    Parameter("fixed", (7,)),
)
DRAWS = list(Space(PARAMETERS, None).all_draws())
ENCODING = Encoding(PARAMETERS)
POINTS = np.array([ENCODING.point(draw) for draw in DRAWS])
MODEL = np.array([0.1 * abs(PARAMETERS[0].values.index(draw["size"]) - 2) for draw in DRAWS])
FEATURES = np.column_stack([np.ones(len(DRAWS)), MODEL])
# Twice the model's effect, one of a word that the model does not know, and none of the flag.
VALUES = -7 + 2 * MODEL + np.array([0.3 * (draw["word"] == "b") for draw in DRAWS])


@pytest.fixture
def process():
    return GaussianProcess(ENCODING, features=2)


def test_differences_are_steps_between_numbers_and_one_between_words():
    apart = ENCODING.differences(POINTS[[0, -1, 2, 6]])
    assert apart.shape == (3, 4, 4)
    assert apart[:, 0, 1] == pytest.approx([1, 1, 1])
    assert DRAWS[2] == {"size": 1, "word": "b", "flag": False, "fixed": 7}
    assert apart[:, 0, 2] == pytest.approx([0, 1, 0])
    assert DRAWS[6] == {"size": 2, "word": "a", "flag": False, "fixed": 7}
    assert apart[:, 0, 3] == pytest.approx([0.25, 0, 0])
    weighted = ENCODING.scaled(POINTS[[0, -1]], np.array([1.0, 10.0, 100.0]))
    assert np.abs(weighted[0] - weighted[1]).sum() == pytest.approx(111.0)


def test_other_numbers_count_like_parameters():
    encoding = Encoding(PARAMETERS, 2)
    points = np.array([encoding.point(DRAWS[0], (0.5, -1)), encoding.point(DRAWS[-1], (0.25, 1))])
    assert encoding.differences(points)[:, 0, 1] == pytest.approx([1, 1, 1, 0.25, 2])
    weights = np.array([1.0, 10.0, 100.0, 1000.0, 10000.0])
    assert np.abs(np.diff(encoding.scaled(points, weights), axis=0)).sum() == pytest.approx(20361.0)


def covariance(process, one, other):
    return process.covariance(process.scaled(one), process.scaled(other))


def test_the_covariance_of_points_is_that_which_is_tuned(process):
    tuned = process._signal(process._theta, ENCODING.differences(POINTS))
    assert covariance(process, POINTS, POINTS) == pytest.approx(tuned)


def test_the_gradient_is_that_of_the_cost(process):
    few = slice(0, None, 3)
    apart = ENCODING.differences(POINTS[few])
    arguments = (apart, FEATURES[few], VALUES[few])
    for shift in (0.0, 0.5, -0.7):
        theta = process._start + shift
        error = check_grad(lambda t: process._cost(t, *arguments)[0], lambda t: process._cost(t, *arguments)[1], theta)
        assert error < 1e-4


def learnt(process, known):
    """What follows from the values of some points for all."""
    posterior = Posterior(process, POINTS, FEATURES)
    posterior.observe(known)
    return posterior.predict(VALUES[known])


def test_it_learns_from_a_part_what_the_rest_is(process):
    known = np.random.default_rng(0).permutation(len(DRAWS))[:18]
    rest = np.setdiff1d(np.arange(len(DRAWS)), known)
    process.tune(POINTS[known], FEATURES[known], VALUES[known])
    mean, deviation = (of_all[rest] for of_all in learnt(process, known))
    assert np.abs(mean - VALUES[rest]).max() < 0.1
    assert np.abs(mean - VALUES[rest]).max() < 0.4 * np.abs(VALUES[rest] - VALUES[known].mean()).max()
    assert np.all(np.abs(mean - VALUES[rest]) < 3 * deviation + 0.02)
    weights = np.exp(process._theta[:3])
    assert weights[1] > 2 * weights[2], "the word matters, the flag does not"


@pytest.mark.parametrize(("model", "slope"), [(MODEL, 2), (np.random.default_rng(1).normal(0, 0.3, len(DRAWS)), 0)])
def test_a_feature_that_says_nothing_is_left_out_of_the_mean(process, model, slope):
    few = slice(0, None, 2)
    points, features, values = POINTS[few], np.column_stack([np.ones(len(DRAWS)), model])[few], VALUES[few]
    process.tune(points, features, values)
    factor = np.linalg.cholesky(covariance(process, points, points) + process.noise * np.eye(len(points)))
    _, found = process.coefficients(np.linalg.solve(factor, features), np.linalg.solve(factor, values))
    assert found == pytest.approx(slope, abs=0.5 if slope else 1e-4)


def test_it_is_sure_of_what_it_knows_and_less_so_far_away(process):
    mean, deviation = learnt(process, [0])
    assert mean[0] == pytest.approx(VALUES[0], abs=0.01)
    assert deviation[0] < 0.03 < deviation[1] < deviation[-1]


def test_one_observation_after_the_other_tells_the_same_as_all_at_once(process, monkeypatch):
    monkeypatch.setattr(module, "_ROOM", 2)
    known = [3, 1, 4, 15, 9, 2, 6]
    posterior = Posterior(process, POINTS[:10], FEATURES[:10])
    posterior.observe(known[:1])
    posterior.observe([7, 8, 5])
    posterior.forget(1)
    posterior.observe([])
    posterior.extend(POINTS[10:], FEATURES[10:])
    for place in known[1:]:
        posterior.observe([place])
    for one, other in zip(posterior.predict(VALUES[known]), learnt(process, known), strict=True):
        assert one == pytest.approx(other)


def test_it_is_what_inverting_the_covariance_gives(process):
    """Rasmussen, Williams, equations 2.25 and 2.26, with the coefficients of equation 2.41."""
    known = [3, 1, 4, 15, 9, 2, 6]
    noisy = covariance(process, POINTS[known], POINTS[known]) + process.noise * np.eye(len(known))
    inverse, cross = np.linalg.inv(noisy), covariance(process, POINTS, POINTS[known])
    precision, h = np.diag([1e-6, 1.0]), FEATURES[known]
    beta = np.linalg.solve(h.T @ inverse @ h + precision, h.T @ inverse @ VALUES[known] + precision @ [0.0, 1.0])
    mean, deviation = learnt(process, known)
    assert mean == pytest.approx(FEATURES @ beta + cross @ inverse @ (VALUES[known] - h @ beta))
    assert deviation**2 == pytest.approx(process.variance - np.sum((cross @ inverse) * cross, axis=1))


def test_what_is_not_known_yet_counts_as_expected(process):
    known, waiting = [3, 1, 4, 15], [9, 2, 6]
    mean, deviation = learnt(process, known)
    posterior = Posterior(process, POINTS, FEATURES)
    posterior.observe([*known, *waiting])
    later, surer = posterior.predict(VALUES[known])
    assert later == pytest.approx(mean)
    assert np.all(surer <= deviation + 1e-9)
    assert np.all(surer[waiting] < 0.5 * deviation[waiting])
    believed = VALUES.copy()
    believed[waiting] = mean[waiting]
    assert posterior.predict(believed[[*known, *waiting]])[0] == pytest.approx(mean, abs=1e-6)
