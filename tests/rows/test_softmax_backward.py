"""What is peculiar to softmax_backward: its definition, its kernels and its call; tests/contract runs its cases."""

from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from refusals import illegal, refused
from rows.softmax_backward_cases import BF16, SPEC

from autotune import dispatcher
from autotune.codegen.rows.softmax_backward.emit import emit
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from autotune.compiler import compile_kernel
from autotune.search_spaces.rows.softmax_backward import OPERATOR


def schedule(words):
    return SoftmaxBackwardSchedule.parse(words.split())


def random(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


@pytest.mark.parametrize("log", [False, True])
def test_the_reference_is_the_derivative(log):
    """By differences in float64 of the sum of dy · softmax(scale · x)."""
    x, dy = random(3, 7).astype(np.float64), random(3, 7)

    def loss(x):
        y = np.exp(0.5 * x) / np.exp(0.5 * x).sum(axis=1, keepdims=True)
        return (dy * (np.log(y) if log else y)).sum()

    y = np.exp(0.5 * x) / np.exp(0.5 * x).sum(axis=1, keepdims=True)
    problem = SoftmaxBackwardProblem(3, 7, log=log)
    inputs = {"y": (np.log(y) if log else y).reshape(-1), "dy": dy.reshape(-1)}
    found = problem.reference(inputs, {"scale": 0.5})["dx"]
    steps = 1e-5 * np.eye(21).reshape(21, 3, 7)
    expected = [(loss(x + step) - loss(x - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("log", "words", "right", "planted"),
    [
        (False, "TPR=16 vector_width=4", "arguments.scale * gradient", "gradient"),
        (True, "TPR=32 vector_width=2", "y == -infinity() ? 0.0f : ", ""),
    ],
)
def test_planted_bug_is_caught(log, words, right, planted):
    problem = Masked(9, 67, log=log)
    kernel = emit(problem, schedule(words))
    check_caught(problem, kernel, right, planted, seeds=(1,))


class Masked(SoftmaxBackwardProblem):
    """With a scale, and gradients of what is masked, which PyTorch's function lets through."""

    @property
    def scalars(self):
        return {"scale": 0.5}

    def inputs(self, seed):
        return super().inputs(seed) | {"dy": random(self.rows * self.columns)}


@pytest.mark.parametrize("log", [False, True])
def test_a_call_is_the_gradient(log):
    x, dy = random(2, 3, 9), random(2, 3, 9)
    y = dispatcher.softmax(x, temperature=2.0, log=log, causal=True)
    dx = dispatcher.softmax_backward(dy, y, scale=0.5, log=log)
    p = np.exp(y) if log else y
    expected = dy - p * dy.sum(-1, keepdims=True) if log else p * (dy - (p * dy).sum(-1, keepdims=True))
    kept = np.tri(3, 9, dtype=bool)
    np.testing.assert_allclose(dx, np.where(kept, 0.5 * expected, 0), rtol=1e-5, atol=1e-6)
    assert dispatcher.softmax_backward(dy, y, scale=0.5, log=log, out=dy) is dy
    np.testing.assert_array_equal(dx, dy)


X = random(4, 5)


test_bad_arguments_get_one_line = refused(
    dispatcher.softmax_backward,
    [
        ((X, X, 0), "dim=0: softmax_backward takes the last axis, -1 or 1"),
        ((X, X[:3]), r"output has dtype float32 and shape \(3, 5\): expected those of grad_output"),
        ((X, random(4, 6)[:, :5]), "5 elements apart, those of output 6: expected the same"),
        ((X.astype(np.int32), X), "TypeError: grad_output has dtype int32: softmax_backward takes float32"),
    ],
)


test_violations_carry_the_values = illegal(
    OPERATOR,
    {
        SoftmaxBackwardProblem(4, 64, align_x=8): {
            "vector_width=4": "vector_width 4: 16 bytes over the 8 that y and dy are aligned for together",
            "hold=shared": "hold shared: expected registers or reload for the rows of two arrays",
        }
    },
)


def test_the_footprint_counts_both_arrays():
    one, two = (schedule("vector_width=8").row_footprint(2000, size).registers for size in (2, 4))
    held = schedule("vector_width=8").footprint(SoftmaxBackwardProblem(4, 2000, BF16)).registers
    assert held == one == 24 + 2 * 8 * 4
    assert two == 24 + 4 * 8 * 4


@pytest.mark.parametrize("problem", [SoftmaxBackwardProblem(65536, 2048, BF16), SoftmaxBackwardProblem(16384, 8192)])
@pytest.mark.parametrize("log", [False, True])
def test_seeds_spill_nothing(problem, log):
    for seed in OPERATOR.seeds(replace(problem, log=log), SPEC)[:2]:
        resources = compile_kernel(OPERATOR.program(replace(problem, log=log), seed, SPEC), "sm_90").resources
        assert resources.spill_store_bytes == resources.stack_bytes == 0, seed


def test_first_seeds_leave_an_sm_several_blocks():
    """As measured: with one block on an SM, nothing hides its waits, and such rows took 1.15 to 1.6 times as long."""
    problem = SoftmaxBackwardProblem(512, 50257, BF16, log=True)
    for schedule in OPERATOR.seeds(problem, SPEC)[:4]:
        assert schedule.min_blocks_per_sm >= 2
        assert schedule.cluster >= 4
