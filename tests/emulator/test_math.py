"""Functions of float are as far off as a GPU's may be, and no further."""

from collections.abc import Callable
from math import erf

import numpy as np
import pytest

from autotune.codegen.model.problem import Array

SMALLEST = np.finfo(np.float32).tiny
X = np.concatenate([
    np.random.default_rng(0).uniform(-100, 100, 960).astype(np.float32),
    np.float32([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -126, -127, -149, -150, 128, 88.9]),
    np.geomspace(1e-38, 1e38, 48, dtype=np.float32),
])  # fmt: skip
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], int]] = {
    "expf": (np.exp, 2),
    "exp2f": (np.exp2, 2),
    "exp2_flushed": (np.exp2, 2),
    "logf": (np.log, 1),
    "rsqrtf": (lambda x: 1 / np.sqrt(x), 2),
    "tanhf": (np.tanh, 2),
    "erff": (lambda x: np.frompyfunc(erf, 1, 1)(x).astype(np.float64), 2),
}


def evaluated(expression, kernel, run, seed):
    loop = f"for (int i = t; i < {X.size}; i += 64) y[i] = {expression};"
    return run(kernel(loop, headers=("math",)), X, X.size, seed=seed)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_errs_up_to_its_bound_from_the_second_seed_on(name, kernel, run):
    function, ulp = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        exact = function(X.astype(np.float64))
        if name == "exp2_flushed":
            exact[exact < SMALLEST] = 0
        rounded = exact.astype(np.float32)
        unit = np.spacing(np.maximum(np.abs(rounded), SMALLEST)).astype(np.float64)
    ordinary = np.isfinite(rounded) & (exact != 0)
    for seed, least in ((0, 0.0), (1, 0.0), (2, 0.8 * ulp), (3, 0.8 * ulp)):
        y = evaluated(f"{name}(x[i])", kernel, run, seed)
        errors = np.abs(y[ordinary].astype(np.float64) - exact[ordinary]) / unit[ordinary]
        assert least <= errors.max() <= (ulp if seed > 1 else 0.5)
        np.testing.assert_array_equal(y[~ordinary], rounded[~ordinary])


def test_an_error_depends_on_the_argument_and_the_seed_alone(kernel, run):
    first, again, other = (evaluated("expf(x[i])", kernel, run, seed) for seed in (2, 2, 3))
    np.testing.assert_array_equal(first, again)
    assert (first != other).sum() > 100


def test_a_maximum_propagates_nan(kernel, run):
    for function, numpy in (("max_nan", np.maximum), ("min_nan", np.minimum), ("fmaxf", np.fmax), ("fminf", np.fmin)):
        y = evaluated(f"{function}(x[i], x[{X.size - 1} - i])", kernel, run, 0)
        np.testing.assert_array_equal(y, numpy(X, X[::-1]))
