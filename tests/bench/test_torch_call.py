"""Calls of PyTorch that operators state, on a stand-in for PyTorch: on the problem's tensors they are right."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from torch_on_numpy import TORCH
from torch_on_numpy import Tensor as HostTensor

from autotune.bench.baselines.torch_call import torch_baseline
from autotune.bench.torch_tensors import torch_tensor
from autotune.codegen.dtype import DType
from autotune.codegen.tensor import Role, Tensor
from autotune.search_spaces.registry import operator

SGEMM, TRANSPOSE = (operator(name).problem_type for name in ("sgemm", "transpose"))


@pytest.mark.parametrize(
    ("name", "baseline", "problem"),
    [
        ("sgemm", "cublas", SGEMM(5, 6, 7)),
        ("sgemm", "cublas", SGEMM(5, 6, 7, transpose_a=True, transpose_b=True, lda=8, ldc=9, beta_nonzero=True)),
        ("sgemm", "cublas", SGEMM(4, 3, 2, batch=3, stride_a=0)),
        *(("transpose", "torch", TRANSPOSE(5, 7, element_bytes=size, batch=2, ldb=8)) for size in (1, 2, 4, 8, 16)),
    ],
    ids=str,
)
def test_it_computes_the_reference(monkeypatch, name, baseline, problem):
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    inputs = problem.inputs(seed=0)
    buffers = {t.name: inputs.get(t.name, np.zeros(t.size, t.dtype.numpy)).copy() for t in problem.tensors}
    session = SimpleNamespace(problem=problem, stream=7, pointer=lambda name: buffers[name].ctypes.data)
    stated = operator(name).baselines[baseline]
    with torch_baseline(baseline, stated).prepare(session) as launch:
        launch()
    assert not (TORCH.backends.cuda.matmul.allow_tf32 or TORCH.backends.cudnn.allow_tf32)
    expected = problem.reference(inputs, problem.scalars)
    for tensor in problem.tensors:
        if tensor.role is not Role.INPUT:
            found = tensor.view(buffers[tensor.name])
            np.testing.assert_allclose(found, tensor.view(expected[tensor.name]), rtol=1e-5, atol=1e-5)


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
