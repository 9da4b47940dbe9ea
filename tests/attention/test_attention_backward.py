"""What attention_backward refuses, which schedules are deterministic, and calls of other layouts."""

from dataclasses import replace

import numpy as np
import pytest
from attention.attention_backward_cases import LIMITS

from autotune import dispatcher, emulator
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.attention.attention_backward.wgmma.schedule import WgmmaSchedule
from autotune.search_spaces.attention.attention_backward import OPERATOR

PROBLEM = AttentionBackwardProblem(256, 256, 2, head_dim=64)


@pytest.mark.parametrize(
    ("changed", "shape", "wrong"),
    [
        (5, (2, 2, 9), "lse has shape (2, 2, 9) and dtype float32: expected (2, 2, 8) and float32"),
        (4, (2, 8, 2, 8), "output has shape (2, 8, 2, 8) and dtype float16: expected (2, 8, 2, 16) and float16"),
        (0, (2, 8, 1, 16), "grad_output has dtype float16 and shape (2, 8, 1, 16): expected those of output"),
    ],
)
def test_calls_that_are_refused(changed, shape, wrong):
    shapes = [(2, 8, 2, 16)] * 5 + [(2, 2, 8)]
    shapes[changed] = shape
    arrays = [np.ones(one, np.float32 if len(one) == 3 else np.float16) for one in shapes]
    with pytest.raises(ValueError) as refused:
        dispatcher.attention_backward(*arrays)
    assert wrong in str(refused.value)


def test_heads_ahead_of_queries():
    random = np.random.default_rng(0)
    grad_o, q, k, v = (random.standard_normal((2, 9, 2, 16)).astype(np.float16) for _ in range(4))
    lse = np.empty((2, 2, 9), np.float32)
    o = dispatcher.attention(q, k, v, causal=True, lse=lse)
    expected = dispatcher.attention_backward(grad_o, q, k, v, o, lse, causal=True)
    swapped = [np.swapaxes(one, 1, 2) for one in (grad_o, q, k, v, o)]
    found = dispatcher.attention_backward(*swapped, lse, causal=True, order="bhsd")
    for one, other in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(np.swapaxes(one, 1, 2), other)
    assert [one.shape for one in (*found, *expected)[3::4]] == [(0,), (0,)]


def test_a_single_pass_is_not_deterministic():
    single = WgmmaSchedule(2, 128, single_pass=True)
    assert OPERATOR.violations(PROBLEM, single, LIMITS) == []
    complaint = "single_pass: adds in any order, and the problem is deterministic"
    assert OPERATOR.violations(replace(PROBLEM, deterministic=True), single, LIMITS) == [complaint]


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"tile_queries": 64}, "single_pass: 2 consumers cannot share out 64 queries and 64 columns of dq"),
        ({"together": False}, "single_pass: expected dk and dv together"),
        ({"stages": 1}, "ahead: expected two stages or more"),
    ],
)
def test_schedules_that_are_illegal(changes, wrong):
    schedule = replace(WgmmaSchedule(2, 128, single_pass=True), **changes)
    assert wrong in OPERATOR.violations(PROBLEM, schedule, LIMITS)


def test_gradients_of_scores_that_cancel_may_be_off_by_as_much_as_sums_of_fp32():
    problem = AttentionBackwardProblem(1, 1, 1, head_dim=2)
    inputs = {name: np.ones_like(values) for name, values in problem.inputs(0).items()}
    inputs["dout"][1] = -1  # dP = δ = 1 - 1, of one key
    inputs["lse"][:] = 2 * problem.scalars["scale"]
    found = problem.reference(inputs, problem.scalars)
    assert found["dq"].tolist() == found["dk"].tolist() == [0, 0]
    np.testing.assert_allclose(found["dq_scale"], problem.scalars["scale"] * 2 / 256, rtol=1e-6)


def test_keys_that_are_not_there_have_no_part_in_a_single_pass():
    """Beside scores so small that a key of zeros would have an infinite weight."""
    problem = AttentionBackwardProblem(64, 100, 1, head_dim=16)
    inputs, scalars = problem.inputs(0), problem.scalars
    views, forward = problem.views(inputs), problem.forward(lse=True)
    views["q"][...], views["k"][...] = 20, -20
    found = forward.reference({name: inputs[name] for name in "qkv"}, scalars)
    inputs |= {"o": found["o"].astype(inputs["o"].dtype), "lse": found["lse"].astype(np.float32)}
    outputs = {one.name: np.zeros(one.size, one.dtype.numpy) for one in problem.tensors if one.name not in inputs}
    program = OPERATOR.program(problem, WgmmaSchedule(1, 64, single_pass=True), LIMITS)
    emulator.run(program, problem.tensors, inputs | outputs, scalars, seed=1)
    expected = problem.reference(inputs, scalars)["dq"]
    np.testing.assert_allclose(outputs["dq"].astype(np.float32), expected, atol=0.05)
