"""Bayesian optimisation on the toy: what it proposes, and what it makes of what it is told."""

from math import log
from random import Random

import numpy as np
import pytest
from scipy.optimize import check_grad
from tuner_fakes import LEGAL, ToyProblem, ToySchedule, space, toy_seconds, violations

from autotune.search_spaces.contract.space import Parameter, Space
from autotune.tuner.search import bayes
from autotune.tuner.search import posterior as module
from autotune.tuner.search.bayes import BayesSearch
from autotune.tuner.search.candidates import worthwhile
from autotune.tuner.search.gaussian_process import Encoding, GaussianProcess
from autotune.tuner.search.launch_shape import Expected, LaunchShape
from autotune.tuner.search.posterior import Posterior

SPACE = space(None, None)
PROBLEM = ToyProblem(8)
BEST = ToySchedule(4, 4, "column", True)
ALIKE = LaunchShape(0, 0, 0, 0, 0)


def study(predict=toy_seconds, seed=0, shape=lambda schedule: ALIKE):
    def expected(schedule):
        return Expected(predict(schedule), shape(schedule))

    return BayesSearch(SPACE, lambda schedule: not violations(PROBLEM, schedule, None), expected, seed)


def proposals(asked, count):
    """What a search proposes one after the other, each told before the next."""
    found = []
    for _ in range(count):
        found.append(proposed(asked))
        asked.tell(found[-1], toy_seconds(found[-1]))
    return found


def proposed(asked):
    """The next proposal, which is being tried from now on."""
    schedule = asked.propose()
    asked.wait_for(schedule)
    return schedule


def test_the_first_is_what_the_time_model_finds_fastest():
    assert proposals(study(), 1) == [BEST]
    slowest = max(LEGAL, key=toy_seconds)
    assert toy_seconds(proposals(study(lambda schedule: 1 / toy_seconds(schedule)), 1)[0]) == toy_seconds(slowest)


def test_every_legal_schedule_is_proposed_once():
    found = proposals(study(), len(LEGAL))
    assert set(found) == LEGAL
    assert len(found) == len(LEGAL)


def test_a_model_that_knows_nothing_does_not_keep_it_from_the_best():
    found = proposals(study(lambda schedule: 1.0), 15)
    assert BEST in found, "a random order has it among 15 of 40 with a chance of 3 in 8"
    average = sum(map(toy_seconds, LEGAL)) / len(LEGAL)
    assert sum(map(toy_seconds, found[3:7])) / 4 < 0.5 * average, "three are enough to know where to look"
    wrong = proposals(study(lambda schedule: 1 / toy_seconds(schedule)), 25)
    assert BEST in wrong


def test_what_the_launch_is_like_tells_what_no_parameter_does():
    order = Random(0).sample(sorted(LEGAL, key=str), len(LEGAL))

    def evaluations(shape):
        asked = study(lambda schedule: 1.0, shape=shape)
        places = []
        while 0 not in places:
            schedule = proposed(asked)
            places.append(order.index(schedule))
            asked.tell(schedule, 1 + places[-1] / len(order))
        return len(places)

    assert evaluations(lambda schedule: ALIKE._replace(blocks=order.index(schedule) / len(order))) < 10
    assert evaluations(lambda schedule: ALIKE) > 10, "without it, the best is anywhere"


def test_draws_that_wait_are_neither_proposed_again_nor_crowded_around():
    waiting, alone = study(lambda schedule: 1.0), study(lambda schedule: 1.0)
    proposals(waiting, 6)
    proposals(alone, 6)
    asked = [proposed(waiting) for _ in range(6)]
    assert len(set(asked)) == 6
    candidates = alone.prepare()
    ranked = sorted(zip(-candidates._scores(), candidates._schedules, strict=True), key=lambda pair: pair[0])
    told = set(alone._told)
    assert asked != [schedule for _, schedule in ranked if schedule not in told][:6]


def test_a_failure_counts_as_slow_and_what_is_slow_as_twice_the_best():
    assert worthwhile([2.0, None, 1.9, 9.0]) == pytest.approx([2.0, 1.9 + log(2), 1.9, 1.9 + log(2)])
    assert worthwhile([2.0, None]) == pytest.approx([2.0, 2.0]), "one time is known, so that failures count as that"
    asked = study()
    for schedule in sorted(LEGAL, key=str)[:8]:
        asked.tell(schedule, None)
    assert proposals(asked, 1) == [BEST], "of failures alone nothing can be learnt"


def test_of_a_long_run_the_best_and_the_newest_count(monkeypatch):
    monkeypatch.setattr(bayes, "_MOST", 10)
    asked = study()
    listed = sorted(LEGAL, key=toy_seconds)
    for schedule in listed:
        asked.tell(schedule, toy_seconds(schedule))
    assert list(asked._remembered(10)) == [*listed[:5], *listed[-5:]]
    assert asked.prepare()._chosen == [*listed[:5], *listed[-5:]]


def test_a_space_larger_than_the_pool_is_searched_near_the_best(monkeypatch):
    monkeypatch.setattr(bayes, "_POOL", 5)
    asked = study(lambda schedule: 1.0)
    before = len(asked.prepare()._schedules)
    near = ToySchedule(4, 4, "column")
    asked.tell(near, toy_seconds(near))
    assert before <= 5
    assert BEST in asked.prepare()._schedules
    assert len(asked.prepare()._schedules) < len(LEGAL) - 1


def test_what_it_believes_does_not_depend_on_the_order_in_which_it_was_told():
    """It goes on from what it has, also while others wait."""
    believed = []
    for order in (1, -1):
        search = study()
        proposals(search, 6)
        asked = [proposed(search) for _ in range(4)]
        before = search._candidates
        for schedule in asked[:3][::order]:
            search.tell(schedule, toy_seconds(schedule))
        assert search._candidates is before
        assert list(search._waiting) == asked[3:]
        believed.append(before._scores())
    assert believed[0] == pytest.approx(believed[1])


def test_a_schedule_that_is_not_being_tried_after_all_may_be_proposed_again():
    asked = study()
    first = proposed(asked)
    assert proposed(asked) != first
    asked.give_up(first)
    assert proposed(asked) == first


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


@pytest.mark.parametrize(
    ("values", "twos"),
    [
        ((16, 32, 48, 64), [0, 0.5, 0, 1]),
        ((1, 2, 4, 8), None),  # of which the steps say as much
        ((3, 5, 7), None),
        ((0, 1, 2, 3), None),  # which are no sizes
        ((2, 3), None),
        ((0.5, 1.0, 2.0), None),
    ],
)
def test_sizes_are_alike_by_their_factors_of_two_as_well(values, twos):
    encoding = Encoding((Parameter("size", values),))
    points = np.array([encoding.point({"size": value}) for value in values])
    assert list(points[:, 0]) == pytest.approx([step / (len(values) - 1) for step in range(len(values))])
    assert encoding.parameters == points.shape[1] == (2 if twos else 1)
    if twos:
        assert list(points[:, 1]) == twos
        assert encoding.differences(points)[1, 0, 3] == 1
