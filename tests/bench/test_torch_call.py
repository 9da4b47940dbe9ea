"""Calls of PyTorch that operators state, on a stand-in for PyTorch: on the problem's tensors they are right."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from contract.operator_cases import SMALL_PROBLEMS, label
from torch_on_numpy import TORCH
from torch_on_numpy import Tensor as HostTensor

from autotune.bench.baselines.torch_call import torch_baseline
from autotune.bench.torch_tensors import torch_tensor
from autotune.codegen.epilogue.activation import FUSED
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.matmul.pack.problem import PackProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.baselines import TorchCall, compiled
from autotune.search_spaces.contract.registry import operator
from autotune.verification import compare, launch_arrays, scale_name

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
]


@pytest.mark.parametrize(
    ("name", "baseline", "problem"),
    [
        (name, baseline, problem)
        for name, problem in PROBLEMS
        for baseline, stated in operator(name).baselines.items()
        if isinstance(stated, TorchCall)
        and stated.verified
        and not getattr(problem, "segmented", False)
        and not getattr(problem, "quantised", False)
        and not problem.sizes.get("n", 0) % getattr(problem, "group_rows", 1)
        and not name.startswith("cross_entropy")  # tests/pytorch has PyTorch itself for it
        and name != "attention"  # the stand-in has no kernels of scaled_dot_product_attention
        and (name != "gemm" or problem.dtype.bits == 16)  # the stand-in does not round as tensor cores do
    ],
    ids=label,
)
def test_it_computes_the_reference(monkeypatch, name, baseline, problem):
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    before = launch_arrays(problem, seed=0)
    after = {name: array.copy() for name, array in before.items()}
    session = SimpleNamespace(problem=problem, stream=7, pointer=lambda name: after[name].ctypes.data)
    with torch_baseline(baseline, operator(name).baselines[baseline]).prepare(session) as prepared:
        prepared.verifiable(prepared.launch)()
    expected = problem.reference(before, problem.scalars)
    for tensor in problem.tensors:
        if tensor.role is not Role.INPUT:
            scale = expected.get(scale_name(tensor))
            found = compare(tensor, after[tensor.name], expected[tensor.name], before[tensor.name], scale)
            assert isinstance(found, float), found


@pytest.mark.parametrize("stated", [None, "8"])
def test_torch_compile_works_in_this_process_unless_the_environment_says_otherwise(monkeypatch, stated):
    variable = "TORCHINDUCTOR_COMPILE_THREADS"
    monkeypatch.setenv(variable, stated or "")
    if stated is None:
        monkeypatch.delenv(variable)
    compiled(TorchCall("a call", lambda *_: list)).bind(TORCH, None, {})
    assert os.environ[variable] == (stated or "1")


def test_its_products_are_exact_meanwhile(monkeypatch):
    flags = ("tf32", "fp16_reduced_precision_reduction", "bf16_reduced_precision_reduction")
    found = SimpleNamespace(**{f"allow_{flag}": flag != "tf32" for flag in flags})
    monkeypatch.setattr(TORCH.backends.cuda, "matmul", found)
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    problem = SgemmProblem(4, 3, 2)
    arrays = launch_arrays(problem, seed=0)
    session = SimpleNamespace(problem=problem, stream=7, pointer=lambda name: arrays[name].ctypes.data)
    before = dict(vars(found))
    with torch_baseline("cublas", operator("sgemm").baselines["cublas"]).prepare(session):
        assert not any(vars(found).values())
    assert vars(found) == before


def test_versions_are_those_of_the_packages_that_are_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    stated = operator("sgemm").baselines["cublas"]
    assert torch_baseline("cublas", stated).versions().keys() - {"cublas"} == {"torch"}


@pytest.mark.parametrize("dtype", [DType.BFLOAT16, DType.FLOAT8_E4M3, DType.BOOL, DType.INT64])
def test_a_view_has_the_dtype_the_shape_and_the_strides(dtype):
    tensor = Tensor("x", dtype, (2, 3), (5, 1), Role.INPUT, 16)
    flat = HostTensor(np.arange(tensor.bytes, dtype=np.uint8))
    view = torch_tensor(TORCH, tensor, flat).array
    assert (view.dtype, view.shape) == (dtype.numpy, (2, 3))
    assert view.tobytes() == tensor.view(flat.array.view(dtype.numpy)).tobytes()


def test_a_dtype_that_pytorch_lacks_is_named():
    with pytest.raises(TypeError, match=r"^x has dtype int4, which PyTorch lacks$"):
        torch_tensor(TORCH, Tensor.flat("x", DType.INT4, 4, Role.INPUT, 16), None)


def test_pytorch_has_no_exact_product_of_quantised_weights():
    with pytest.raises(ValueError, match=r"^PyTorch rounds dequantised int8 weights to float32$"):
        operator("gemv").baselines["torch"].bind(TORCH, GemvProblem(5, 6, weights=Weights.INT8), {})


def test_pytorch_has_no_scan_of_segments():
    with pytest.raises(ValueError, match=r"^PyTorch has no scan of segments or with an initial value$"):
        operator("scan").baselines["torch"].bind(TORCH, ScanProblem(1, 40, flags=True), {})
