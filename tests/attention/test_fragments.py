"""Which fragments attention takes, from Python functions and from texts, and that calls compute them."""

from functools import reduce

import numpy as np
import pytest
from refusals import refused

from autotune import dispatcher
from autotune.codegen.attention.attention.presets import PRESETS
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.model.tensor import Role
from autotune.emulator import verify
from autotune.fragments import alibi, exp, exp2, integers, mask, maximum, minimum, numbers, score, tanh, where

SQUARES = mask(lambda batch, head, q, k: (q // 4 == k // 4) & (k != 1))


@pytest.mark.parametrize("heads", [1, 8, 12])
def test_slopes_of_alibi(heads):
    problem = AttentionProblem(3, 4, heads, score=alibi(heads))
    changed, _ = problem.changed(np.zeros((1, 4)), {"head": heads - 1, "q": 2, "k": np.arange(4)})
    slope = {1: 2.0**-8, 8: 2.0**-8, 12: 2.0**-3.5}[heads]  # of the last head, as in the paper's code
    np.testing.assert_allclose(changed, [[-2 * slope, -slope, 0, slope]], rtol=1e-6)


def test_a_function_becomes_a_text():
    assert SQUARES == "and(eq(floordiv(q,4),floordiv(k,4)),ne(k,1))"
    assert score(lambda s, b, h, q, k: 1 - s / 2) == "sub(1,div(score,2))"
    clamped = score(lambda s, b, h, q, k: maximum(-s, minimum(abs(s), 0.1)))
    assert clamped == "max(neg(score),min(abs(score),0.10000000149011612))"
    problem = AttentionProblem(8, 8, 1, score="add(score,01.50)", mask=SQUARES)
    assert problem.key.endswith(f"score=add(score,1.5)-mask={SQUARES}")


@pytest.mark.parametrize(
    ("function", "error", "wrong"),
    [
        (lambda s, b, h, q, k: s if q > k else 0, TypeError, "no branches: expected where"),
        (lambda s, b, h, q, k: np.sin(1.0) * np.ones(3) + 0 * b, TypeError, "a fragment has a ndarray"),
        (lambda s, b, h, q, k: q > k, ValueError, "is a comparison: expected a number"),
        (lambda s, b, h, q, k: s + q * k, ValueError, "expected an integer of 32 bits"),
        (lambda s, b, h, q, k: s + q // h, ValueError, "floordiv by head: expected a constant of 1 or more"),
        (lambda s, b, h, q, k: s + (q > k), ValueError, "add of a number, a comparison: expected a number, a number"),
        (lambda s, b, h, q, k: s * float("inf"), ValueError, "expected a finite number"),
        (lambda s, b, h, q, k: s * 1e39, ValueError, "expected a finite number of float32"),
        (lambda s, b, h, q, k: sum((s for _ in range(300)), s), ValueError, "more than 256 parts"),
        (lambda s, b, h, q, k: s + numbers[s], ValueError, "number of a number: expected an integer"),
        (
            lambda s, b, h, q, k: s + sum(numbers),
            TypeError,
            r"reads numbers by places, such as numbers\[q\]",
        ),
        (lambda s, b, h, q, k: s + integers[q] * 5, ValueError, "expected an integer of 32 bits"),
    ],
)
def test_functions_that_are_no_fragments(function, error, wrong):
    with pytest.raises(error, match=wrong):
        score(function)


@pytest.mark.parametrize(
    "text",
    [
        *("__import__('os')", "score;}", "add(score,1", "add(score)", "add(score,1))", "q<k", "add(score, 1)"),
        *("while(score)", "eq(q,k)", "exp2(" * 70 + "score" + ")" * 70, "1e99", "1.5.2", "where(score,1,2)", "batches"),
    ],
)
def test_a_text_from_a_database_is_a_fragment_or_refused(text):
    stored = AttentionProblem(8, 8, 1).to_dict() | {"score": text}
    with pytest.raises(ValueError, match=r"^score: "):
        AttentionProblem(**stored)


def test_problems_without_fragments():
    with pytest.raises(ValueError, match="expected none with softcap"):
        AttentionProblem(8, 8, 1, softcap=True, score="neg(score)")
    with pytest.raises(ValueError, match="expected 16777216 heads"):
        AttentionProblem(1, 1, 2**25, mask=SQUARES)


# Each function that numbers go through, with the score in each of its places.
CURVES = [
    lambda s, b, h, q, k: tanh(s / 3) * (2 - s) + exp2(0.5 * s) - (k - q) * s,
    lambda s, b, h, q, k: (1 + s) / (4 + tanh(s)) - s / 8 + 3 / (5 + s * s),
    lambda s, b, h, q, k: minimum(s, 0.3 * k) + maximum(-s, 0.2) - minimum(0.5, s * s) + maximum(1.1, -s),
    lambda s, b, h, q, k: where(s > 0.1 * q, abs(s) * s, -abs(s - 0.7)) + 0.1 * (k // 2),
    lambda s, b, h, q, k: where(q == 1, k - q, 2 * s),
]


@pytest.mark.parametrize("curve", CURVES)
def test_gradients_are_differences_of_values(curve):
    problem = AttentionBackwardProblem(3, 5, 2, 2, 1, head_dim=2, score=score(curve), mask=SQUARES)
    random, forward = np.random.default_rng(0), problem.forward(lse=True)
    inputs = {one.name: random.standard_normal(one.size) for one in problem.tensors if one.role is Role.INPUT}
    step = {name: random.standard_normal(inputs[name].size) for name in "qkv"}

    def at(distance):
        moved = {name: inputs[name] + distance * step[name] for name in "qkv"}
        return forward.reference(moved, problem.scalars)

    now, tiny = at(0), 1e-6
    inputs["o"], inputs["lse"] = now["o"], forward.views(now)["lse"].transpose(0, 2, 1).ravel()
    gradients = problem.reference(inputs, problem.scalars)
    found = sum(gradients[f"d{name}"] @ step[name] for name in "qkv")
    expected = inputs["dout"] @ (at(tiny)["o"] - at(-tiny)["o"]) / (2 * tiny)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_derivative_may_be_too_large():
    steep = score(lambda s, b, h, q, k: reduce(lambda x, _: tanh(x), range(20), s))
    assert AttentionProblem(8, 8, 1, score=steep).scored
    with pytest.raises(ValueError, match="score: its derivative is an expression of more than 256 parts"):
        AttentionBackwardProblem(8, 8, 1, score=steep)


def test_a_call_computes_fragments():
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((1, 9, 2, 16)).astype(np.float16) for _ in range(3))
    changed = score(lambda s, b, h, q, k: where(h == 0, s, 0.5 * exp(-abs(q - k))))
    found = dispatcher.attention(q, k, v, score=changed, mask=SQUARES)
    scores = np.einsum("bshd,bthd->bhst", q, k, dtype=np.float64) / 4
    place = np.arange(9)
    scores[:, 1] = 0.5 * np.exp(-abs(place[:, None] - place))
    seen = (place[:, None] // 4 == place // 4) & (place != 1)
    weights = np.where(seen, np.exp(scores), 0)
    expected = np.einsum("bhst,bthd->bshd", weights / weights.sum(-1, keepdims=True), v)
    np.testing.assert_allclose(found, expected, atol=5e-3)


SLOPES = score(lambda s, b, h, q, k: s + numbers[h] * (k - q))
DOCUMENTS = mask(lambda b, h, q, k: integers[q] == integers[k])
HEADS = np.ones((1, 5, 2, 8), np.float16)


def test_a_call_reads_tables():
    """Where they end, the last entry stands for all that would follow."""
    values = np.arange(5, dtype=np.float16)[:, None, None].repeat(2, 1).repeat(8, 2)[None]
    slopes, documents = np.array([np.log(2.0)], np.float32), np.array([7, 7, -1, -1], np.int32)
    found = dispatcher.attention(0 * HEADS, HEADS, values, None, slopes, documents, score=SLOPES, mask=DOCUMENTS)
    expected = [2 / 3, 2 / 3, *3 * [(2 + 2 * 3 + 4 * 4) / 7]]
    np.testing.assert_allclose(found[0, :, 1, 0], expected, rtol=2e-3)


test_tables_that_are_refused = refused(
    lambda tables, fragments: dispatcher.attention(HEADS, HEADS, HEADS, **tables, **fragments),
    [
        (({}, {"score": SLOPES}), "numbers_count=0: expected 1 or more, for fragments read numbers"),
        (({"numbers": np.zeros(0, np.float32)}, {"score": SLOPES}), "numbers_count=0: expected 1 or more"),
        (({"numbers": np.ones(2)}, {"score": SLOPES}), "numbers has dtype float64 and shape .2,.: expected float32"),
        (({"integers": np.ones((2, 2), np.int32)}, {"mask": DOCUMENTS}), "expected int32 of shape .2,."),
        (({"integers": np.ones(2, np.int32)}, {}), "expected None, for neither score nor mask reads it"),
    ],
)


@pytest.mark.parametrize("masked", [-1e9, -1e10, -1e30, -3.4e38])
@pytest.mark.parametrize("preset", ["flash_v1", "flash_v2", "tensor_cores"])
def test_large_scores_mask_the_first_keys(preset, masked):
    """Their products with log2(e) are rounded by more than 1, so differences are taken of what is rounded alike."""
    problem = AttentionProblem(20, 200, 1, head_dim=32, score=score(lambda s, b, h, q, k: where(k < 150, masked, s)))
    verify(problem, PRESETS[preset](problem), seeds=(0,))
