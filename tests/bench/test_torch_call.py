"""What surrounds a baseline's call of PyTorch, which is a stand-in here; tests/pytorch has PyTorch itself."""

import os
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from refusals import refused

from autotune.bench.baselines.torch_call import torch_baseline
from autotune.bench.torch_tensors import torch_tensor
from autotune.codegen.convolution.causal_conv1d.problem import CausalConv1dProblem
from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.baselines import TorchCall, compiled
from autotune.search_spaces.contract.registry import operator

CUBLAS = operator("sgemm").baselines["cublas"]


@pytest.fixture
def torch(monkeypatch):
    stand_in = MagicMock(__version__="2.11.0")
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    return stand_in


@pytest.mark.parametrize("stated", [None, "8"])
def test_torch_compile_works_in_this_process_unless_the_environment_says_otherwise(torch, monkeypatch, stated):
    variable = "TORCHINDUCTOR_COMPILE_THREADS"
    monkeypatch.setenv(variable, stated or "")
    if stated is None:
        monkeypatch.delenv(variable)
    compiled(TorchCall("a call", lambda *_: list)).bind(torch, None, {})
    assert os.environ[variable] == (stated or "1")


def test_its_products_are_exact_meanwhile(torch):
    flags = ("tf32", "fp16_reduced_precision_reduction", "bf16_reduced_precision_reduction")
    found = torch.backends.cuda.matmul = SimpleNamespace(**{f"allow_{flag}": flag != "tf32" for flag in flags})
    session = SimpleNamespace(problem=SgemmProblem(4, 3, 2), stream=7, pointer=lambda name: 0)
    before = dict(vars(found))
    with torch_baseline("cublas", CUBLAS).prepare(session):
        assert not any(vars(found).values())
    assert vars(found) == before


def test_what_a_call_returns_is_delivered_to_the_output(torch):
    session = SimpleNamespace(problem=SgemmProblem(4, 3, 2), stream=7, pointer=lambda name: 0)
    made, (c, *_) = object(), [torch.as_tensor.return_value.view.return_value.as_strided.return_value]
    stated = TorchCall("a call", lambda *_: lambda: {"c": made})
    with torch_baseline("a call", stated).prepare(session) as prepared:
        prepared.verifiable(prepared.launch)()
    c.copy_.assert_called_once_with(made)


def test_versions_are_those_of_the_packages_that_are_there(torch):
    assert torch_baseline("cublas", CUBLAS).versions().keys() - {"cublas"} == {"torch"}


test_what_pytorch_has_not_is_named = refused(
    lambda call: call(),
    [
        (
            lambda: torch_tensor(None, Tensor.flat("x", DType.INT4, 4, Role.INPUT, 16), None),
            "TypeError: x has dtype int4, which PyTorch lacks",
        ),
        (
            lambda: operator("gemv").baselines["torch"].bind(None, GemvProblem(5, 6, weights=Weights.INT8), {}),
            "PyTorch rounds dequantised int8 weights to float32",
        ),
        (
            lambda: operator("scan").baselines["torch"].bind(None, ScanProblem(1, 40, flags=True), {}),
            "PyTorch has no scan of segments or with an initial value",
        ),
        (
            lambda: (
                operator("causal_conv1d").baselines["causal_conv1d"].bind(None, CausalConv1dProblem(8, 9, width=5), {})
            ),
            "causal-conv1d is called with filters of 2 to 4 steps",
        ),
    ],
)
