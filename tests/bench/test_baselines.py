"""What baselines say where their library is missing, and the layout of what cublasLt is handed."""

import ctypes
import os
import sys
from importlib import util

import pytest

from autotune.bench import BASELINES, cublaslt, triton_baseline
from autotune.bench.cublaslt_api import HeuristicResult
from autotune.bench.published import PUBLISHED
from autotune.search_spaces.registry import OPERATORS, operator

SGEMM = BASELINES["sgemm"]


class NoGpu:
    """A PyTorch that sees no GPU."""

    __version__ = "2.11.0"

    class cuda:  # noqa: N801
        @staticmethod
        def is_available():
            return False


def test_baselines_are_of_operators_and_have_a_line_each():
    assert set(BASELINES) <= set(OPERATORS)
    for baselines in BASELINES.values():
        assert all(baseline.summary and "\n" not in baseline.summary for baseline in baselines.values())


@pytest.mark.parametrize("name", ["cublas", "triton"])
@pytest.mark.parametrize(
    ("torch", "remedy"),
    [(None, "needs PyTorch with CUDA: pip install torch"), (NoGpu, "PyTorch 2.11.0 here finds no GPU")],
)
def test_pytorch_that_is_missing_or_sees_no_gpu(monkeypatch, name, torch, remedy):
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(triton_baseline, "find_spec", lambda name: util.find_spec("pytest"))
    line = SGEMM[name].missing()
    assert line.startswith(f"the baseline {name} needs ")
    assert remedy in line


def test_triton_that_is_missing(monkeypatch):
    monkeypatch.setattr(triton_baseline, "find_spec", lambda name: None)
    assert SGEMM["triton"].missing().endswith("pip install torch triton")


def test_cublaslt_that_is_missing(monkeypatch):
    from cuda.pathfinder import DynamicLibNotFoundError

    def find():
        raise DynamicLibNotFoundError("searched here\nand there")

    monkeypatch.setattr(cublaslt, "CublasLt", find)
    assert SGEMM["cublaslt"].missing() == "the baseline cublaslt needs cuBLAS: pip install nvidia-cublas"


@pytest.mark.parametrize("name", ["cublas", "cublaslt", "triton"])
def test_nothing_but_fp32_is_allowed_before_a_library_is_loaded(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    monkeypatch.setenv("CUBLAS_EMULATE_SINGLE_PRECISION", "1")
    monkeypatch.setattr(triton_baseline, "find_spec", lambda name: util.find_spec("pytest"))
    SGEMM[name].missing()
    assert (os.environ["NVIDIA_TF32_OVERRIDE"], os.environ["CUBLAS_EMULATE_SINGLE_PRECISION"]) == ("0", "0")


def test_heuristic_results_lie_as_in_the_header():
    assert ctypes.sizeof(HeuristicResult) == 96
    assert [getattr(HeuristicResult, name).offset for name, _ in HeuristicResult._fields_] == [0, 64, 72, 76, 80]


def test_published_figures_are_those_of_presets():
    assert all(list(figures) == list(operator(name).presets) for name, figures in PUBLISHED.items())
