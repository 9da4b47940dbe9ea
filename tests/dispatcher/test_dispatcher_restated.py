"""Problems that are another operator's, too: the one that promises to be faster serves, on the same arrays."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from dispatcher.records import H200, SGEMM, problem, schedule, trial
from fake_gpu import A, B, C, FakeTensor

from autotune import dispatcher
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.db import ProblemRecord, TimeSource
from autotune.dispatcher.arrays.views import HOST
from autotune.dispatcher.calls.plan import plan_for
from autotune.dispatcher.calls.warming import compile_ahead
from autotune.dispatcher.choice import formulation
from autotune.dispatcher.choice.choose import Choice
from autotune.dispatcher.choice.formulation import formulation_of
from autotune.dispatcher.choice.records import records
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.settings import settings
from autotune.search_spaces.contract.registry import operator

GEMV = operator("gemv")
FEW = SgemmProblem(3, 300, 40, transpose_b=True)
FASTER = formulation._faster


@pytest.fixture
def gemv_serves(monkeypatch):
    """A dispatcher to which another operator always promises to be faster."""
    monkeypatch.setattr(formulation, "_faster", lambda *_: True)


def random(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape).astype(dtype)


@pytest.mark.usefixtures("gemv_serves")
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (random(3, 33), random(33, 10)),
        (random(3, 33), random(10, 33).T),
        (random(1, 33), random(33, 10)),
        (random(20, 33), random(33, 1)),
        (random(33, 20).T, random(33, 1)),
        (random(2, 3, 33), random(33, 10)),
        (random(3, 33), random(2, 33, 10)),
        (random(2, 20, 33), random(2, 33, 1)),
        (random(20, 33), random(33, 3)),
        (random(33, 20).T, random(4, 33).T),
        (random(20, 33), random(33, 6)[:, ::2][:, :1]),
        (random(33, 3).T, random(33, 20)),
        (random(2, 20, 33), random(2, 33, 3)),
        (random(20, 33), random(2, 33, 3)),
    ],
)
def test_a_product_is_the_same(a, b):
    served = dispatcher.plan("sgemm", a, b)
    assert served.choice.schedule.__class__ in GEMV.schedule_types
    np.testing.assert_allclose(served(), a @ b, rtol=1e-4, atol=1e-5)
    out = random(*(a @ b).shape)
    expected = 0.5 * (a @ b) - 2 * out
    np.testing.assert_allclose(dispatcher.sgemm(a, b, out=out, alpha=0.5, beta=-2.0), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("gemv_serves")
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("columns", [False, True])
def test_a_layer_of_few_tokens_is_the_same(m, across, columns):
    """Weights in both orders, of tokens in rows or, with everything transposed, in columns."""
    x, w, bias = random(m, 40, dtype=np.float16), random(40, 24, dtype=np.float16), random(24, dtype=np.float16)
    expected = np.maximum(0.5 * (x.astype(np.float32) @ w.astype(np.float32)) + bias, 0)
    w = w.T.copy().T if across else w
    operands = (w.T, x.T, bias[:, None]) if columns else (x, w, bias)
    served = dispatcher.plan("gemm", *operands, activation="relu", alpha=0.5)
    assert served.choice.schedule.__class__ in GEMV.schedule_types
    np.testing.assert_allclose(served(), expected.T if columns else expected, rtol=2e-3, atol=2e-3)


@pytest.mark.usefixtures("gemv_serves")
def test_the_kernel_gets_the_arrays_under_its_own_names(gpu):
    dispatcher.sgemm(FakeTensor(A, (4, 5)), FakeTensor(B, (5, 6)), alpha=0.5)
    ((_, arguments),) = gpu.launched
    assert arguments.items() >= {"x": A, "w": B, "y": C, "alpha": 0.5, "beta": 0.0, "n": 6, "k": 5}.items()
    plan = plan_for(SGEMM, SgemmProblem(4, 6, 5), 0)
    assert (plan.operator, plan.problem) == (GEMV, GemvProblem(6, 5, 4, WeightOrder.KN))


@pytest.mark.parametrize(
    "own",
    [
        SgemmProblem(17, 300, 40),
        SgemmProblem(300, 17, 40),
        SgemmProblem(1, 2**31 - 1, 40),
        SgemmProblem(2**31 - 1, 1, 40),
    ],
)
def test_other_products_are_none(own):
    assert SGEMM.restated(own) is None


@pytest.mark.parametrize(
    "own",
    [
        GemmProblem(17, 17, 40),
        GemmProblem(3, 300, 40, out_dtype=OutDType.FLOAT32),
        GemmProblem(3, 300, 40, residual=True),
        GemmProblem(3, 300, 40, gate=Gate.HALVES),
        GemmProblem(3, 300, 40, preactivation=True),
        GemmProblem(3, 300, 40, bias=Bias.COLUMN),
        GemmProblem(300, 3, 40, bias=Bias.ROW),
    ],
)
def test_other_layers_are_none(own):
    assert operator("gemm").restated(own) is None


@pytest.mark.usefixtures("gemv_serves")
@pytest.mark.parametrize(("dtype", "name"), [(np.float32, "sgemm"), (np.float16, "gemm")])
def test_several_vectors_are_served_as_a_product(dtype, name):
    x, weight = random(5, 40, dtype=dtype), random(24, 40, dtype=dtype)
    served = dispatcher.plan("gemv", x, weight, alpha=0.5)
    assert served.choice.schedule.__class__ in operator(name).schedule_types
    expected = 0.5 * (x.astype(np.float32) @ weight.T.astype(np.float32))
    np.testing.assert_allclose(served(), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(("columns", "bias"), [(False, Bias.ROW), (True, Bias.COLUMN)])
def test_a_bias_has_an_element_for_each_output(columns, bias):
    own = GemvProblem(24, 40, 3, dtype=DType.BFLOAT16, bias=True, transpose_y=columns)
    assert GEMV.restated(own).problem.bias is bias


@pytest.mark.parametrize(
    "own",
    [
        GemvProblem(300, 40),
        GemvProblem(300, 40, 3, dtype=DType.BFLOAT16, weights=Weights.INT8),
        GemvProblem(300, 40, 3, bias=True),
        GemvProblem(300, 40, 3, activation=Activation.RELU),
        GemvProblem(300, 40, 3, ldw=2**31),
        GemvProblem(300, 40, 3, dtype=DType.BFLOAT16, beta_nonzero=True),
    ],
)
def test_other_vectors_are_none(own):
    assert GEMV.restated(own) is None


@pytest.mark.usefixtures("gemv_serves")
@pytest.mark.parametrize(("dtype", "name"), [(np.float16, "gemm"), (np.float32, "sgemm")])
def test_a_scalar_that_a_call_lacks_has_its_default(dtype, name):
    """Both kernels take beta, which the call of a gradient does not have."""
    grad, weight = random(2, 3, 4, 16, dtype=dtype), random(16, 1, 1, 8, dtype=dtype)
    served = dispatcher.plan("conv2d_input", grad, weight, (3, 4), alpha=0.5)
    assert served.choice.schedule.__class__ in operator(name).schedule_types
    expected = 0.5 * (grad.astype(np.float32) @ weight[:, 0, 0].astype(np.float32))
    np.testing.assert_allclose(served(), expected, rtol=2e-3, atol=2e-3)


def choice(seconds, source=None, rule=Rule.NEAREST):
    return Choice(rule, schedule(0, problem(512)), seconds=seconds, time_source=source)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (choice(1.0), choice(2.0), True),
        (choice(2.0), choice(1.0), False),
        (choice(1.0), choice(2.0, TimeSource.MEASURED), False),
        (choice(1.0, TimeSource.MEASURED), choice(2.0), True),
        (choice(1.0, TimeSource.MEASURED), choice(2.0, TimeSource.MEASURED), True),
        (choice(3.0, TimeSource.MEASURED), choice(2.0, TimeSource.MEASURED), False),
        (choice(1.0), choice(None, rule=Rule.DEFAULT), False),
        (choice(1.0, TimeSource.MEASURED), choice(None, TimeSource.MEASURED, Rule.BASELINE), False),
    ],
)
def test_a_modelled_time_does_not_outrank_a_measured_one(one, other, expected):
    assert FASTER(one, other) is expected


def test_a_measured_record_takes_the_problem(monkeypatch, database):
    monkeypatch.setattr(formulation, "_faster", FASTER)
    restated = SGEMM.restated(FEW)
    database.record(trial(FEW, SGEMM.default(FEW, H200), seconds=3e-6))
    assert stated_operator() == "sgemm"
    stored = ProblemRecord("gemv", restated.problem.key, restated.problem.to_dict())
    best = GEMV.default(restated.problem, H200)
    database.record(replace(trial(FEW, best, seconds=2e-6), problem=stored))
    assert stated_operator() == "gemv"
    [compiled] = compile_ahead(SGEMM, [FEW], H200, lambda one: records(one, H200))
    assert (compiled.problem, compiled.choice.schedule) == (FEW, best)
    found = dispatcher.explain("sgemm", device="h200", **FEW.to_dict())
    assert found.served_by.problem == restated.problem
    assert str(found).startswith(f"sgemm {FEW.key}, served by gemv {restated.problem.key} on NVIDIA H200: exact")


def stated_operator():
    return formulation.formulation_of(SGEMM, FEW, H200, lambda one: records(one, H200)).operator.name


GEMM = operator("gemm")
MOST_KERNELS = 16
WARM = (1, 2, 3, 4, 16, *(2**power for power in range(6, 13)))  # rows up to 4096


@cache
def _records(stated):
    return list(records(stated, H200))


def served(m, n, k):
    """The program of the first choice."""
    problem = GemmProblem(m, n, k, transpose_b=True, bucket_rows=True)
    found = formulation_of(GEMM, problem, H200, _records)
    return found.operator.program(found.problem, next(found.choices).schedule, H200)


@pytest.mark.parametrize(("n", "k"), [(6144, 4096), (384, 96)])
def test_few_kernels_serve_any_number_of_tokens(n, k):
    warmed = {served(m, n, k).source for m in WARM}
    assert len(warmed) <= MOST_KERNELS
    between = (5, 17, 40, 65, 129, 200, 257, 300, 513, 700, 1025, 1500, 2049, 3000)
    assert {served(m, n, k).source for m in between} <= warmed


def test_four_rows_at_most_take_kernels_of_their_own():
    problems = [GemmProblem(m, 6144, 4096, transpose_b=True, bucket_rows=True) for m in (4, 5)]
    assert [GEMM.restated(problem) is None for problem in problems] == [False, True]


def test_rows_of_a_bucket_are_computed_by_one_kernel():
    w = np.random.default_rng(0).uniform(-1, 1, (24, 40)).astype(np.float16).T
    schedules = set()
    for m in (5, 16):
        x = np.random.default_rng(m).uniform(-1, 1, (m, 40)).astype(np.float16)
        call = dispatcher.plan("gemm", x, w, bucket_rows=True)
        schedules.add(call.choice.schedule)
        np.testing.assert_allclose(call(), x.astype(np.float32) @ w.astype(np.float32), rtol=2e-3, atol=2e-3)
    assert len(schedules) == 1
    (warmed,) = dispatcher.warm([GemmProblem(7, 24, 40, transpose_b=True, bucket_rows=True)], HOST)
    assert warmed.schedule == warmed.schedule.shape_generic


def test_kernels_of_a_bucket_are_not_chosen_by_the_time_of_one_call(monkeypatch):
    monkeypatch.setattr(settings, "tune", "first-call")
    problem = GemmProblem(9, 24, 40, transpose_b=True, bucket_rows=True)
    assert [plan_for(GEMM, one, HOST).measures for one in (problem, problem.served_as)] == [False, True]


def test_a_schedule_with_too_many_blocks_for_the_rows_there_are_does_not_serve():
    for m in (5, 17, 33, 65, 129):
        problem = GemmProblem(m, 16, 16, transpose_b=True, bucket_rows=True)
        found = formulation_of(GEMM, problem, H200, _records)
        assert all(not found.operator.violations(found.problem, one.schedule, H200) for one in found.choices)


def test_other_operands_are_refused():
    with pytest.raises(ValueError, match="bucket_rows=True: expected one matrix A that is stored row by row"):
        GemmProblem(5, 7, 8, transpose_a=True, bucket_rows=True)
    x = np.ones((8, 5), np.float16)
    with pytest.raises(ValueError, match=r"expected contiguous rows for bucket_rows=True"):
        dispatcher.gemm(x.T, x, out=np.empty((5, 5), np.float16, order="F"), bucket_rows=True)
