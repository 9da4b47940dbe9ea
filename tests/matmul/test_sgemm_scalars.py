"""What alpha and beta mean, as in BLAS: with a factor of 0 an operand is not read, whatever it holds."""

from dataclasses import replace

import numpy as np
import pytest
from sgemm_cases import SPEC

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.emulator import run
from autotune.search_spaces.matmul.sgemm import OPERATOR
from autotune.verification import expected_dtype

EDGES = SgemmProblem(65, 35, 70, batch=2, align_a=4, align_b=4, align_c=4, beta_nonzero=True)
TILES = SgemmProblem(128, 64, 128, beta_nonzero=True)
SMALL = SgemmSchedule(block_m=64, block_n=32, warp_m=32, thread_m=8, thread_n=4, warp_n=32)
EMITTED = {
    "tiles": SMALL,
    "streamed": replace(SMALL, grid_blocks=3),
    "sliced": replace(SMALL, warps_k=2),
    "clusters": replace(SMALL, cluster_k=2, grid_blocks=6),
}
PLAIN = {**OPERATOR.presets, "reference": OPERATOR.reference}
KERNELS = [*EMITTED, "naive", "vectorised", "double_buffered", "reference"]
on_kernels = pytest.mark.parametrize("kernel", KERNELS)
on_problems = pytest.mark.parametrize(
    ("kernel", "problem"), [(one, (EDGES, TILES)[turn % 2]) for turn, one in enumerate(KERNELS)], ids=KERNELS
)


def program(kernel, problem):
    if kernel in PLAIN:
        return PLAIN[kernel](problem)
    vector = 1 if problem.m == EDGES.m else 4
    schedule = replace(EMITTED[kernel], vector_a=vector, vector_b=vector, vector_c=vector)
    return OPERATOR.program(problem, schedule, SPEC)


def product(kernel, problem, arrays, alpha, beta):
    """C, in the type in which the kernel writes it."""
    tensors = list(problem.tensors)
    if kernel == "reference":
        tensors[2] = replace(tensors[2], dtype=expected_dtype(tensors[2]), alignment=16)
    given = {tensor.name: arrays[tensor.name].astype(tensor.dtype.numpy) for tensor in tensors}
    run(program(kernel, problem), tensors, given, {"alpha": alpha, "beta": beta}, seed=0)
    return given["c"]


@on_problems
def test_alpha_of_zero_reads_neither_a_nor_b(kernel, problem):
    arrays = problem.inputs(0)
    arrays["a"][:] = arrays["b"][:] = np.nan
    np.testing.assert_array_equal(product(kernel, problem, arrays, 0.0, -0.5), -0.5 * arrays["c"])


@on_kernels
@pytest.mark.parametrize("alpha", [np.nan, 1.0])
def test_a_sum_of_nothing_is_zero_whatever_alpha_is(kernel, alpha):
    problem = replace(EDGES, k=0, lda=0, ldb=0, stride_a=0, stride_b=0)
    arrays = problem.inputs(0)
    expected = problem.reference(arrays, {"alpha": alpha, "beta": -0.5})["c"]
    np.testing.assert_array_equal(expected, -0.5 * arrays["c"])
    np.testing.assert_array_equal(product(kernel, problem, arrays, alpha, -0.5), expected)


@on_problems
@pytest.mark.parametrize("beta", [-0.0, 1e-50])
def test_beta_of_zero_does_not_read_c(kernel, problem, beta):
    """1e-50 is 0 in float32."""
    arrays = problem.inputs(0)
    arrays["c"][:] = np.nan
    expected = problem.reference(arrays, {"alpha": 1.5, "beta": beta})["c"]
    assert not np.isnan(expected).any()
    np.testing.assert_allclose(product(kernel, problem, arrays, 1.5, beta), expected, atol=1e-4)


@on_kernels
def test_infinite_alpha_and_beta_of_nan_show(kernel):
    arrays = TILES.inputs(0)
    assert not np.isfinite(product(kernel, TILES, arrays, np.inf, 0.0)).any()
    assert np.isnan(product(kernel, TILES, arrays, 1.5, np.nan)).all()


def test_c_is_read_where_beta_may_not_be_0_alone():
    assert EDGES.work.bytes - replace(EDGES, beta_nonzero=False).work.bytes == 4 * 2 * 65 * 35
