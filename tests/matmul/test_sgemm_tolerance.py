"""How far an sgemm may be off: as far as float32 in the worst order, and not as far as TF32."""

import numpy as np
import pytest

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.problem import Array
from autotune.verification import Mismatch, compare, poisoned


def tf32(x: Array) -> Array:
    """Rounded to the 10 bits of a significand that tensor cores multiply."""
    return ((x.view(np.uint32) + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("k", [1, 16, 256, 4096])
def test_the_tolerance_is_that_of_float32_sums(k: int) -> None:
    """Here, sums of one term after the other were off by 5 % to 17 % of it, and exact sums of TF32 24 to 331 times."""
    problem = SgemmProblem(64, 64, k)
    inputs = problem.inputs(0)
    expected = problem.reference(inputs, problem.scalars)["c"]
    a, b, c = problem.tensors
    left, right = a.view(inputs["a"])[0], b.view(inputs["b"])[0]
    alpha = np.float32(problem.scalars["alpha"])

    def judged(product: Array) -> float | Mismatch:
        return compare(c, product.astype(np.float32).reshape(-1), expected, poisoned(c))

    terms = left[:, None, :] * right.T[None, :, :]
    in_order = alpha * np.cumsum(terms, axis=-1, dtype=np.float32)[..., -1]
    assert isinstance(judged(in_order), float)
    exact = alpha * (tf32(left).astype(np.float64) @ tf32(right).astype(np.float64))
    assert isinstance(judged(exact), Mismatch)
    without_one_term = alpha * (in_order / alpha - terms[..., 0])
    assert isinstance(judged(without_one_term), Mismatch)
