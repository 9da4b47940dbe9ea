"""What tokens sampling draws: their frequencies, their independence of the batch; and bugs planted in its kernels."""

from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from selection.sampling_cases import ALL, BFLOAT16, BLOCKS, CLUSTER, FLAT, ODD

from autotune import dispatcher
from autotune.codegen.model.philox import philox
from autotune.codegen.selection.sampling.problem import Pairs, SamplingProblem
from autotune.codegen.selection.sampling.weights import WEIGHT_BITS, share_of, weights
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.selection.sampling import OPERATOR

SPEC = named_device("h200")


def program(problem, schedule):
    return OPERATOR.program(problem, schedule, SPEC)


def test_weights_are_those_of_softmax():
    logits = np.random.default_rng(0).standard_normal(1000).astype(np.float32) * 5
    found = weights(logits, np.float32(0.7)).astype(np.float64) / 2**WEIGHT_BITS
    expected = np.exp((logits.astype(np.float64) - logits.max()) * np.float32(0.7))
    np.testing.assert_allclose(found, expected, rtol=4e-6, atol=2**-WEIGHT_BITS)
    assert weights(np.array([3, 3, -np.inf], np.float32), np.float32(2)).tolist() == [1 << WEIGHT_BITS] * 2 + [0]


def test_a_share_is_rounded_up():
    assert share_of(np.float32(0.5), 7) == 4
    assert share_of(np.float32(0.25), 8) == 2
    assert share_of(np.nextafter(np.float32(1), np.float32(0)), 2**20) == 2**20


def test_frequencies_are_those_of_what_is_kept():
    """A million draws of [0.4, 0.3, 0.2, 0.1] without the last: chi-square of 2 degrees, 13.8 in one of a thousand.

    The rule for all rows at once draws what the reference does, row by row, for the first of them.
    """
    problem, rows = SamplingProblem(400, 4, temperatures=False, top_k=True), 10**6
    inputs, logits = problem.inputs(0), np.log(np.array([0.4, 0.1, 0.3, 0.2], np.float32))
    inputs["x"], inputs["top_k"][:] = np.resize(logits, inputs["x"].size), 3
    seed, offset = problem.random_state.resolved(inputs, problem.scalars)[0]
    counter = np.zeros((rows, 4), np.uint32)
    counter[:, 0], counter[:, 2], counter[:, 3] = np.arange(rows), offset % 2**32, offset >> 32
    words = philox(counter, (seed % 2**32, seed >> 32)).astype(object)
    running = (weights(logits, np.float32(1)) * np.array([1, 0, 1, 1], np.uint64)).cumsum()
    drawn = ((words[:, 1] << 32 | words[:, 0]) * int(running[-1]) >> 64).astype(np.uint64)
    tokens = np.searchsorted(running, drawn, side="right")
    assert tokens[: problem.rows].tolist() == problem.reference(inputs, problem.scalars)["tokens"].tolist()
    counts, expected = np.bincount(tokens, minlength=4), np.array([4, 0, 3, 2]) / 9 * rows
    assert counts[1] == 0
    assert np.sum((counts - expected)[[0, 2, 3]] ** 2 / expected[[0, 2, 3]]) < 13.8


def test_a_row_with_a_pair_of_its_own_does_not_depend_on_its_batch():
    problem = SamplingProblem(6, 500, **ALL, pairs=Pairs.ROWS)
    inputs = problem.inputs(0)
    tokens = problem.reference(inputs, problem.scalars)["tokens"]
    order = np.array([4, 2, 0, 5, 1, 3])
    moved = {name: array.reshape(6, -1)[order].reshape(-1) for name, array in inputs.items()}
    assert problem.reference(moved, problem.scalars)["tokens"].tolist() == tokens[order].tolist()


def test_calls_from_probabilities():
    """Of [0.4, 0.3, 0.3], k = 2 keeps two tokens, and the others keep one."""
    probs = np.tile(np.array([0.4, 0.3, 0.3], np.float32), (8, 1))
    k, p, least = (np.full(8, number, dtype) for number, dtype in ((2, np.int32), (0.3, np.float32), (0.8, np.float32)))
    assert set(dispatcher.sampling_from_probs(probs, 1).tolist()) == {0, 1, 2}
    assert set(dispatcher.top_k_sampling_from_probs(probs, k, 1).tolist()) == {0, 1}
    for drawn in (
        dispatcher.top_p_sampling_from_probs(probs, p, 1),
        dispatcher.min_p_sampling_from_probs(probs, least, 1),
        dispatcher.top_k_top_p_sampling_from_probs(probs, k, p, 1),
    ):
        assert set(drawn.tolist()) == {0}


PEAKED, SPREAD = SamplingProblem(24, 300, top_p=True), SamplingProblem(4, 5000, top_p=True, logits=FLAT)
PLAIN, EVERY = SamplingProblem(6, 1500), SamplingProblem(6, 3000, top_k=True, min_p=True, pairs=Pairs.ROWS)
LIMITS = SamplingProblem(24, 600, **ALL, logits=ODD)
EQUAL = SamplingProblem(12, 2100, BFLOAT16, top_p=True, logits=ODD)
BUGS = {
    "the first token of a vector": (PLAIN, "if (through > drawn) break;", "if (true) break;"),
    "weights without a temperature": (PLAIN, "scale = 1.0f / arguments.temperature[row];", ""),
    "rows share their random bits": (PLAIN, "state.random(words, counter);", "state.random(words, 0);"),
    "the first row's pair": (EVERY, "state.of_row(arguments.state, row)", "state.of_row(arguments.state, 0)"),
    "no token from the last one kept on": (PEAKED, "ahead < share", "ahead + weights.of(entries[i]) < share"),
    "tokens by logits": (PEAKED, "entries[i] = entries[i] << 32 | entries[i] >> 32;", ";"),
    "too few tokens are cut": (SPREAD, "return all < share ? 0 : kept;", "return kept;"),
    "a digit of the floor": (EQUAL, "return shift < 32 && sum == all.of(floor);", "return true;"),
    "the bin before": (
        SPREAD,
        "weights.bin_of(to_float(element)) != bin",
        "weights.bin_of(to_float(element)) != bin - 1",
    ),
    "min-p of none": (EVERY, "return weight < least ? 0 : weight;", "return weight;"),
    "rows of -infinity have a token": (LIMITS, "> -infinity())", ">= -infinity())"),
}


SHARES = {
    "the first number of a block": (SPREAD, "first = LargerEntry()(first, *shared_of_rank", "(first, *shared_of_rank"),
    "sums of a block": (SPREAD, "sum += *shared_of_rank(bins + i, other);", "sum += bins[i];"),
    "sums of one block": (SPREAD, "*shared_of_rank(bins + i, other) = sum;", "bins[i] = sum;"),
    "sums before they are there": (SPREAD, "sampler.sum_bins();\n    cluster_barrier();", "sampler.sum_bins();"),
    "a floor of one block": (SPREAD, "*shared_of_rank(&memory.floor, threadIdx.x) = floor;", "memory.floor = floor;"),
    "masses of other parts": (PLAIN, "if (other < rank) before += memory.masses[other];", ""),
    "tokens of two parts": (PLAIN, "return drawn < before ? own : drawn - before;", "return drawn;"),
    "the entries of one part": (
        EVERY,
        "*shared_of_rank(entries + i % of_block, i / of_block)",
        "entries[i % of_block]",
    ),
    "a block that ends too soon": (EVERY, "cluster_barrier();  // until then", "// until then"),
}


@pytest.mark.parametrize(("problem", "right", "wrong"), BUGS.values(), ids=BUGS)
def test_planted_bugs_are_caught(problem, right, wrong):
    check_caught(problem, program(problem, replace(BLOCKS, threads=128)), right, wrong, seeds=(0,))


@pytest.mark.parametrize(("problem", "right", "wrong"), SHARES.values(), ids=SHARES)
def test_bugs_planted_in_clusters_are_caught(problem, right, wrong):
    check_caught(problem, program(problem, replace(CLUSTER, threads=128)), right, wrong, seeds=(0,))
