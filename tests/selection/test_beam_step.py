"""How users call beam_step, what it refuses, and bugs planted in its kernel; tests/contract runs its cases."""

import numpy as np
import pytest
from planted import caught
from selection.beam_step_cases import BLOCKS, TIES, BeamStepProblem

from autotune import dispatcher
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.selection.beam_step import OPERATOR

SPEC = named_device("h200")
LOG_PROBS = np.log(np.array([[[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]]], np.float32))
SCORES = np.log(np.array([[0.5, 0.25]], np.float32))


def program(problem, schedule):
    return OPERATOR.program(problem, schedule, SPEC)


def test_continuations_are_the_best_of_all_beams():
    parents, tokens, scores = dispatcher.beam_step(LOG_PROBS, SCORES)
    assert (parents.tolist(), tokens.tolist()) == ([[0, 1]], [[0, 1]])
    np.testing.assert_allclose(np.exp(scores), [[0.25, 0.1875]], rtol=1e-6)


def test_of_equal_scores_the_lower_beam_and_then_the_lower_token_comes_first():
    parents, tokens, _ = dispatcher.beam_step(np.zeros((3, 2, 4), np.float32), np.zeros((3, 2), np.float32), 4)
    assert (parents.tolist(), tokens.tolist()) == ([[0] * 4] * 3, [[0, 1, 2, 3]] * 3)


def test_a_beam_that_ended_is_not_continued():
    """So a search may begin with one beam among others of -infinity."""
    parents, tokens, _ = dispatcher.beam_step(LOG_PROBS, np.array([[0, -np.inf]], np.float32), 3)
    assert (parents.tolist(), tokens.tolist()) == ([[0, 0, 0]], [[0, 1, 2]])


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"k=4: expected 0 … 3 continuations by 3 tokens"):
        dispatcher.beam_step(LOG_PROBS, SCORES, 4)
    with pytest.raises(
        ValueError, match=r"scores has dtype float32 and shape \(2,\): expected float32 of shape \(1, 2\)"
    ):
        dispatcher.beam_step(LOG_PROBS, SCORES[0])
    with pytest.raises(ValueError, match=r"log_probs has shape \(3,\): expected \(…, beams, tokens\)"):
        dispatcher.beam_step(LOG_PROBS[0, 0], SCORES)


SHARED, WHOLE = BeamStepProblem(2, 3, 5000, 20, TIES), BeamStepProblem(3, 4, 300, 5)
test_bugs_are_caught = caught(
    program,
    [
        (WHOLE, BLOCKS, "beam * problem.columns + token", "token"),
        (WHOLE, BLOCKS, "beam * Schedule::splits + split", "split"),
        (WHOLE, BLOCKS, "arguments.scores[number]", "arguments.scores[request]"),
        (SHARED, BLOCKS, "column_of(entry) % problem.columns", "column_of(entry)"),
        (SHARED, BLOCKS.replace(splits=2), "counters + request, blocks", "counters + request, problem.beams"),
    ],
    seeds=(0,),
)
