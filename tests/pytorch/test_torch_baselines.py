"""Calls of PyTorch that operators state as baselines: on tensors of the CPU they compute what the operator does."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from autotune.bench.torch_tensors import torch_tensor
from autotune.codegen.epilogue.activation import FUSED
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.matmul.pack.problem import PackProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem
from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.contract.operator_cases import SMALL_PROBLEMS
from autotune.search_spaces.contract.baselines import TorchCall
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.verification import compare, launch_arrays, scale_name

torch = pytest.importorskip("torch")
# Of every operator, its small problems, and those that calls handle otherwise.
PROBLEMS = [
    *SMALL_PROBLEMS,
    ("sgemm", SgemmProblem(5, 6, 7, transpose_a=True, lda=8, ldc=9, beta_nonzero=True)),
    ("sgemm", SgemmProblem(4, 3, 2, batch=3, stride_a=0)),
    *(("scan", ScanProblem(3, 40, op, exclusive=True, reverse=True)) for op in Operation),
    *(("scan", ScanProblem(3, 40, op, reverse=op is Operation.MAX)) for op in Operation),
    ("gemv", GemvProblem(5, 6, beta_nonzero=True)),
    ("gemv", GemvProblem(5, 6, 3, WeightOrder.KN)),
    ("pack", PackProblem(128, 256, weights=Weights.FP8)),
    ("pack", PackProblem(4, 128, group_size=64)),
    *(("gemv", GemvProblem(5, 6, 2, bias=True, activation=function)) for function in FUSED),
    ("cross_entropy_backward", CrossEntropyBackwardProblem(19, 40, DType.BFLOAT16, shared_gradient=True)),
]


def flat(tensor, array):
    """A tensor over the bytes of an array."""
    return torch_tensor(torch, tensor, torch.from_numpy(array.view("u1")))


def lacking(name, problem):
    """What a CPU has not: the gradient of rms_norm, products that round as tensor cores do, sums of them in float32."""
    own = {
        "norm_backward": lambda: not problem.centered,
        "gemm": lambda: problem.dtype.bits != 16,
        "conv2d": lambda: problem.dtype.bits == 16,
    }
    return own.get(name, bool)()


@pytest.mark.parametrize(
    ("name", "baseline"),
    [
        (name, baseline)
        for name, stated in OPERATORS.items()
        for baseline, call in stated.baselines.items()
        if isinstance(call, TorchCall) and call.verified and not call.needs and not name.startswith("attention")
    ],
)
def test_it_computes_the_reference(monkeypatch, name, baseline):
    """Within what kernels of a CPU are off, and but for numbers whose double may be infinite; some are refused."""
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    served = 0
    for problem in (one for of, one in PROBLEMS if of == name and not lacking(name, one)):
        before = launch_arrays(problem, seed=0)
        after = {name: array.copy() for name, array in before.items()}
        tensors = {tensor.name: flat(tensor, after[tensor.name]) for tensor in problem.tensors}
        try:
            call = operator(name).baselines[baseline].bind(torch, problem, tensors)
        except ValueError:
            continue
        made, served = call(), served + 1
        for output, result in made.items() if isinstance(made, Mapping) else ():
            tensors[output].copy_(result)
        check_close(problem, before, after)
    assert served


def check_close(problem, before, after):
    expected = problem.reference(before, problem.scalars)
    for tensor in problem.tensors:
        if tensor.role is not Role.INPUT:
            coarse = Within(2.0**-8, 2.0**-6) if isinstance(tensor.judged, Within) else tensor.judged
            found, wanted = after[tensor.name], expected[tensor.name]
            if tensor.dtype.is_float:
                ends = ~(np.abs(wanted) < np.finfo(np.float32).max / 2)
                wanted = np.where(ends, found.astype(wanted.dtype), wanted)
            scale = expected.get(scale_name(tensor))
            judged = compare(replace(tensor, judged=coarse), found, wanted, before[tensor.name], scale)
            assert isinstance(judged, float), (problem.key, judged)


@pytest.mark.parametrize("dtype", [DType.BFLOAT16, DType.FLOAT8_E4M3, DType.BOOL, DType.INT64])
def test_a_view_has_the_dtype_the_shape_and_the_strides(dtype):
    tensor = Tensor("x", dtype, (2, 3), (5, 1), Role.INPUT, 16)
    array = (np.arange(tensor.bytes) % 2).astype(np.uint8)
    view = flat(tensor, array)
    assert (view.dtype, view.shape, view.stride()) == (getattr(torch, dtype), (2, 3), (5, 1))
    assert view.contiguous().view(torch.uint8).numpy().tobytes() == tensor.view(array.view(dtype.numpy)).tobytes()
