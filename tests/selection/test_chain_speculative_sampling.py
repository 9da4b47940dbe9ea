"""How tokens of chain_speculative_sampling are distributed, and bugs planted in its kernel."""

import numpy as np
import pytest
from planted import caught
from selection.chain_speculative_sampling_cases import (
    ChainSpeculativeSamplingProblem,
    ChainSpeculativeSamplingSchedule,
    Pairs,
)

from autotune import dispatcher
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.selection.chain_speculative_sampling import OPERATOR

SPEC = named_device("h200")
BLOCKS = ChainSpeculativeSamplingSchedule(128, 2)


def program(problem, schedule=BLOCKS):
    return OPERATOR.program(problem, schedule, SPEC)


def test_first_tokens_are_distributed_as_those_of_the_target():
    """Of 2,000 rows: chi-square of 3 degrees, 16.3 in one of a thousand. The draft's own are far from that."""
    problem = ChainSpeculativeSamplingProblem(2000, 1, 4)
    draft, target = np.array([0.7, 0.1, 0.1, 0.1], np.float32), np.array([0.2, 0.3, 0.4, 0.1], np.float32)
    inputs = problem.inputs(0)
    inputs["draft_probs"] = np.tile(draft, problem.rows)
    inputs["draft_tokens"] = np.random.default_rng(1).choice(4, problem.rows, p=draft.astype(np.float64) / draft.sum())
    inputs["target_probs"] = np.tile(target, 2 * problem.rows)
    found = problem.reference(inputs, problem.scalars)["tokens"].reshape(-1, 2)[:, 0]
    expected = target.astype(np.float64) * problem.rows
    assert np.sum((np.bincount(found, minlength=4) - expected) ** 2 / expected) < 16.3


def test_calls():
    draft = np.array([[[0.5, 0.5, 0], [0, 1, 0]]], np.float32)
    target = np.array([[[0.5, 0.5, 0], [0, 0, 1], [1, 0, 0]]], np.float32)
    tokens, accepted = dispatcher.chain_speculative_sampling(draft, np.array([[1, 1]]), target, seed=1)
    assert (tokens.tolist(), accepted.tolist()) == ([[1, 2, -1]], [1])
    tokens, accepted = dispatcher.chain_speculative_sampling(draft, np.array([[0, 2]]), np.nan_to_num(target * 0), 1)
    assert (tokens.tolist(), accepted.tolist()) == ([[-1, -1, -1]], [0])
    with pytest.raises(ValueError, match=r"draft_probs has shape \(2, 3\): expected \(rows, drafts, tokens\)"):
        dispatcher.chain_speculative_sampling(draft[0], np.array([[1, 1]]), target, 1)
    with pytest.raises(ValueError, match="target_probs has dtype float32 and shape"):
        dispatcher.chain_speculative_sampling(draft, np.array([[1, 1]]), target[:, 1:], 1)


FEW, LONG = ChainSpeculativeSamplingProblem(8, 40, 9, Pairs.ROWS), ChainSpeculativeSamplingProblem(8, 2, 2000)
test_bugs_are_caught = caught(
    program,
    [
        (FEW, BLOCKS, "token >= problem.columns", "token > problem.columns"),
        (FEW, BLOCKS, "counter = place;", "counter = 0;"),
        (LONG, BLOCKS, "place < problem.drafts && !is_accepted", "!is_accepted"),
        (LONG, BLOCKS, "p > q ? p - q : 0", "p"),
        (LONG, BLOCKS, "drawn -= from_lane<32>(through - own, chosen);", ""),
    ],
    seeds=(0, 1),
)
