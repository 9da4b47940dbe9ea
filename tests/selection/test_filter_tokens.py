"""What filter_tokens keeps, how users call it, and bugs planted in its kernel; tests/contract runs its cases."""

from dataclasses import replace

import numpy as np
import pytest
from planted import caught
from selection.filter_tokens_cases import ALL, BLOCKS, FilterTokensProblem
from selection.sampling_cases import ODD, Logits

from autotune import dispatcher
from autotune.codegen.selection.filter_tokens.problem import Result
from autotune.codegen.selection.sampling.problem import SamplingProblem, Source
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.selection.filter_tokens import OPERATOR

SPEC = named_device("h200")
# The first is flashinfer's pull request 3774: of two equal probabilities, one is kept.
PROBS = np.array([[0.4, 0.3, 0.3], [0.1, 0.2, 0.7]], np.float32)


def program(problem, schedule=BLOCKS):
    return OPERATOR.program(problem, schedule, SPEC)


def of_rows(number, dtype=np.float32):
    return np.full(2, number, dtype)


def test_shares_are_those_of_what_is_kept():
    two = dispatcher.top_k_renorm_probs(PROBS, of_rows(2, np.int32))
    np.testing.assert_allclose(two, [[4 / 7, 3 / 7, 0], [0, 2 / 9, 7 / 9]], rtol=1e-6)
    half = dispatcher.top_p_renorm_probs(PROBS, of_rows(0.5))
    np.testing.assert_allclose(half, [[4 / 7, 3 / 7, 0], [0, 0, 1]], rtol=1e-6)
    for p, kept in ((1, 3), (np.nextafter(np.float32(1), np.float32(0)), 3), (0, 1)):
        assert np.count_nonzero(dispatcher.top_p_renorm_probs(PROBS, of_rows(p)), axis=1).tolist() == [kept, kept]


def test_logits_are_masked():
    logits = np.log(PROBS)
    masked = dispatcher.top_k_mask_logits(logits, of_rows(1, np.int32))
    assert masked.tolist() == [[logits[0, 0], -np.inf, -np.inf], [-np.inf, -np.inf, logits[1, 2]]]
    softmax = dispatcher.filter_tokens(logits)
    np.testing.assert_allclose(softmax, PROBS, rtol=1e-5)


def test_a_mask_takes_what_a_parameter_leaves_out_and_not_what_weighs_nothing():
    logits = np.zeros((2, 10), np.float32)
    logits[0, 4], logits[1, 4] = np.inf, 1
    temperature, top_k = of_rows(0.01), of_rows(3, np.int32)
    shares = np.repeat([np.arange(10) == 4], 2, axis=0)  # of the others e^-100 and less
    np.testing.assert_array_equal(dispatcher.filter_tokens(logits, temperature=temperature), shares)
    np.testing.assert_array_equal(dispatcher.filter_tokens(logits, temperature=temperature, masked=True), logits)
    masked = dispatcher.filter_tokens(logits, temperature=temperature, top_k=top_k, masked=True)
    np.testing.assert_array_equal(masked, np.where(np.isin(np.arange(10), [0, 1, 4]), logits, -np.inf))
    for name in ("top_p", "min_p"):
        masked = dispatcher.filter_tokens(logits, temperature=temperature, **{name: of_rows(0.5)}, masked=True)
        np.testing.assert_array_equal(masked, np.where(shares, logits, -np.inf))


def test_tokens_are_drawn_from_what_is_kept():
    fields = {"rows": 12, "columns": 400, "temperatures": False, **ALL, "source": Source.PROBS, "logits": ODD}
    sampled, kept = SamplingProblem(**fields), FilterTokensProblem(**fields)
    inputs = sampled.inputs(0)
    tokens = sampled.reference(inputs, sampled.scalars)["tokens"]
    shares = kept.reference(inputs, {})["y"].reshape(12, 400)
    assert all(share[token] > 0 if token >= 0 else not share.any() for token, share in zip(tokens, shares, strict=True))


def test_what_is_refused():
    with pytest.raises(ValueError, match="source='odds': expected logits or probs"):
        dispatcher.filter_tokens(PROBS, source="odds")
    with pytest.raises(ValueError, match="expected logits to mask"):
        dispatcher.filter_tokens(PROBS, source="probs", masked=True)
    with pytest.raises(ValueError, match="expected logits, which temperatures divide"):
        dispatcher.sampling(PROBS, 1, temperature=of_rows(1), source="probs")
    with pytest.raises(ValueError, match="top_k has dtype float32"):
        dispatcher.top_k_mask_logits(PROBS, of_rows(1))


LIMITS = FilterTokensProblem(48, 600, **ALL, logits=ODD)
TIES = FilterTokensProblem(12, 900, top_k=True, logits=ODD, result=Result.MASKED)
OF_PROBS = FilterTokensProblem(6, 700, temperatures=False, min_p=True, source=Source.PROBS)
SPREAD = FilterTokensProblem(2, 5000, top_p=True, logits=Logits.FLAT)
test_bugs_are_caught = caught(
    program,
    [
        (LIMITS, BLOCKS, "if (choice.kept > 0) kept.floor = smallest_of(sampler, choice.kept);", ""),
        (replace(SPREAD, min_p=True), BLOCKS, "&& weights.least == 0", ""),
        (TIES, BLOCKS, "kept.floor = ~Entry{0};", "kept.floor = choice.first;"),
        (LIMITS, BLOCKS, "&& weights.of(entry) >= weights.least", ""),
        (
            LIMITS,
            BLOCKS,
            "const Weights weights{1.0f, value_of(key_of_entry(first)), 0};",
            "const Weights weights{1.0f, 0.0f, 0};",
        ),
        (TIES, BLOCKS, "own = Min()(own,", "own = LargerEntry()(own,"),
        (OF_PROBS, BLOCKS, "share_of(share > 0.0f ? share : 0.0f, first)", "share_of(share, 1ull << 44)"),
        (OF_PROBS, BLOCKS, "mantissa >> places", "mantissa >> places / 2"),
        (SPREAD, BLOCKS, "(before + low < before)", "false"),
        (SPREAD, BLOCKS, "mass = share - wanted;", "mass = share;"),
        (SPREAD, BLOCKS, "return memory.entries[kept - 1];", "return memory.entries[0];"),
    ],
    seeds=(0,),
)
