"""Which problems Liger-Kernel and Triton's tutorials have: others are refused before anything is imported."""

import sys
from types import SimpleNamespace

import pytest
from torch_on_numpy import TORCH

from autotune.bench.baselines import baselines_of
from autotune.codegen.dtype import DType
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.norm.problem import LayerNormProblem, RmsNormProblem
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.streaming.map.arrays import Gate
from autotune.codegen.streaming.map.function import Function
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.search_spaces.registry import operator
from autotune.verification import launch_arrays


@pytest.mark.parametrize(
    ("name", "rival", "problem"),
    [
        ("rms_norm", "liger", RmsNormProblem(3, 8, int8=True)),
        ("layer_norm", "liger", LayerNormProblem(3, 8, bias=False)),
        ("layer_norm", "triton", LayerNormProblem(3, 8, statistics=True)),
        ("norm_backward", "liger", NormBackwardProblem(3, 8)),
        ("softmax", "liger", SoftmaxProblem(3, 8, log=True)),
        ("softmax", "triton", SoftmaxProblem(1, 65537)),
        ("softmax_backward", "liger", SoftmaxBackwardProblem(3, 8, log=True)),
        ("cross_entropy", "liger", CrossEntropyProblem(3, 8, lse=True)),
        ("map", "liger", MapProblem(3, 8, Function.SILU, DType.BFLOAT16)),
        ("map", "liger", MapProblem(3, 8, Function.SILU, DType.BFLOAT16, gate=Gate.INTERLEAVED)),
    ],
)
def test_what_a_rival_lacks_is_refused(monkeypatch, name, rival, problem):
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    monkeypatch.setitem(sys.modules, "liger_kernel", None)
    monkeypatch.setitem(sys.modules, "triton", None)
    arrays = launch_arrays(problem, seed=0)
    session = SimpleNamespace(problem=problem, stream=7, pointer=lambda name: arrays[name].ctypes.data)
    prepared = baselines_of(operator(name))[rival].prepare(session)
    with pytest.raises(ValueError, match=r"^(Liger|the tutorial)"):
        prepared.__enter__()


def test_a_problem_that_a_rival_has_needs_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    monkeypatch.setitem(sys.modules, "liger_kernel", None)
    problem = RmsNormProblem(3, 8)
    arrays = launch_arrays(problem, seed=0)
    session = SimpleNamespace(problem=problem, stream=7, pointer=lambda name: arrays[name].ctypes.data)
    with pytest.raises(ImportError):
        baselines_of(operator("rms_norm"))["liger"].prepare(session).__enter__()
