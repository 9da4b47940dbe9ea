"""Which problems rivals have, such as Liger-Kernel: others are refused before anything is imported."""

import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from autotune.bench.baselines import baselines_of
from autotune.bench.baselines.rows import quack
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem, CrossEntropyProblem
from autotune.codegen.rows.norm.problem import LayerNormProblem, RmsNormProblem
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.search_spaces.contract.registry import operator
from autotune.verification import launch_arrays


@pytest.mark.parametrize(
    ("name", "rival", "problem"),
    [
        ("attention", "fa3", AttentionProblem(3, 8, 1, window_left=2)),
        ("attention_decode", "fa3", AttentionDecodeProblem(1, 8, 1, latent=True)),
        ("attention_decode", "flashmla", AttentionDecodeProblem(1, 8, 1, latent=True)),
        ("rms_norm", "liger", RmsNormProblem(3, 8, int8=True)),
        ("layer_norm", "liger", LayerNormProblem(3, 8, bias=False)),
        ("layer_norm", "triton", LayerNormProblem(3, 8, statistics=True)),
        ("norm_backward", "liger", NormBackwardProblem(3, 8)),
        ("softmax", "liger", SoftmaxProblem(3, 8, log=True)),
        ("softmax", "triton", SoftmaxProblem(1, 65537)),
        ("softmax_backward", "liger", SoftmaxBackwardProblem(3, 8, log=True)),
        ("cross_entropy", "liger", CrossEntropyProblem(3, 8, lse=True)),
        ("rms_norm", "quack", RmsNormProblem(3, 8, int8=True)),
        ("norm_backward", "quack", NormBackwardProblem(3, 8)),
        ("softmax", "quack", SoftmaxProblem(3, 8, log=True)),
        ("softmax_backward", "quack", SoftmaxBackwardProblem(3, 8, log=True)),
        ("cross_entropy", "quack", CrossEntropyProblem(3, 8, smoothed=True)),
        ("cross_entropy_backward", "quack", CrossEntropyBackwardProblem(3, 8, capped=True)),
        ("map", "liger", MapProblem(3, 8, Activation.SILU, DType.BFLOAT16)),
        ("map", "liger", MapProblem(3, 8, Activation.SILU, DType.BFLOAT16, gate=Gate.INTERLEAVED)),
    ],
)
def test_what_a_rival_lacks_is_refused(monkeypatch, name, rival, problem):
    monkeypatch.setitem(sys.modules, "torch", MagicMock())
    monkeypatch.setitem(sys.modules, "liger_kernel", None)
    monkeypatch.setitem(sys.modules, "quack", None)
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.setitem(sys.modules, "vllm", None)
    arrays = launch_arrays(problem, seed=0)
    session = SimpleNamespace(problem=problem, stream=7, pointer=lambda name: arrays[name].ctypes.data)
    prepared = baselines_of(operator(name))[rival].prepare(session)
    with pytest.raises(ValueError, match=r"^(FlashAttention-3|FlashMLA|Liger|quack|the tutorial)"):
        prepared.__enter__()


@pytest.mark.parametrize(("rival", "package"), [("liger", "liger_kernel"), ("quack", "quack")])
def test_a_problem_that_a_rival_has_needs_its_package(monkeypatch, rival, package):
    monkeypatch.setitem(sys.modules, "torch", MagicMock())
    monkeypatch.setitem(sys.modules, package, None)
    problem = RmsNormProblem(3, 8)
    arrays = launch_arrays(problem, seed=0)
    session = SimpleNamespace(problem=problem, stream=7, pointer=lambda name: arrays[name].ctypes.data)
    with pytest.raises(ImportError):
        baselines_of(operator("rms_norm"))[rival].prepare(session).__enter__()


@pytest.mark.parametrize(
    ("bind", "problem", "where", "expected"),
    [
        (quack._norm, RmsNormProblem(3, 8, residual=True, statistics=True), "rmsnorm._rmsnorm_fwd",
         ["x", "weight", "y", None, "rstd", None, "residual", "sum", 0.01, False]),
        (quack._norm, LayerNormProblem(3, 8, statistics=True), "rmsnorm._rmsnorm_fwd",
         ["x", "weight", "y", "bias", "rstd", "mean", None, None, 0.01, True]),
        (quack._softmax, SoftmaxProblem(3, 8), "softmax._softmax_fwd", ["x", "y"]),
        (quack._softmax_backward, SoftmaxBackwardProblem(3, 8), "softmax._softmax_backward", ["dy", "y", "dx"]),
        (quack._cross_entropy, CrossEntropyProblem(3, 8, gradient=True), "cross_entropy.cross_entropy_fwd_out",
         ["x", "target", None, "loss", None, "d", None, -100]),
    ],
)  # fmt: skip
def test_what_quack_gets(monkeypatch, bind, problem, where, expected):
    module, _, function = where.rpartition(".")
    given = []
    monkeypatch.setitem(sys.modules, "quack", SimpleNamespace())
    fake = SimpleNamespace(**{function: lambda *arguments: given.extend(arguments)})
    monkeypatch.setitem(sys.modules, f"quack.{module}", fake)
    bind(None, problem, {tensor.name: tensor.name for tensor in problem.tensors})()
    assert given == expected


@pytest.mark.parametrize(
    ("problem", "function", "expected"),
    [
        (
            NormBackwardProblem(3, 8, centered=False, bias=False, saved=True),
            "rmsnorm_bwd",
            {"dx": 1, "dw": 2},
        ),
        (NormBackwardProblem(3, 8, saved=True), "layernorm_bwd", {"dx": 1, "dw": 2, "db": 3}),
        (NormBackwardProblem(3, 8, bias=False, saved=True), "layernorm_bwd", {"dx": 1, "dw": 2}),
    ],
)
def test_gradients_of_norms_by_quack(monkeypatch, problem, function, expected):
    results = {"rmsnorm_bwd": (1, 2, None, None), "layernorm_bwd": (1, 2, 3)}
    fakes = {name: (lambda *given, found=found, **options: found) for name, found in results.items()}
    others = dict.fromkeys(set(fakes) - {function})
    monkeypatch.setitem(sys.modules, "quack", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "quack.rmsnorm", SimpleNamespace(**(fakes | others)))
    assert quack._norm_backward(None, problem, {tensor.name: tensor.name for tensor in problem.tensors})() == expected
