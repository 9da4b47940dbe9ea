"""What baselines say where their library is missing, and the layout of what cublasLt is handed."""

import ctypes
import os
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from importlib import util
from types import SimpleNamespace

import pytest
from cuda.bindings import driver
from refusals import refused

from autotune.bench.baselines import COPY_NAME, baselines_of, torch_call
from autotune.bench.baselines.device_copy import filling
from autotune.bench.baselines.matmul import aligned_inputs, cublaslt, cublaslt_epilogue
from autotune.bench.baselines.matmul.cublaslt_api import HeuristicResult
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.devices.base import DeviceError
from autotune.search_spaces.contract.registry import OPERATORS, operator

SGEMM = baselines_of(operator("sgemm"))


class NoGpu:
    """A PyTorch that sees no GPU."""

    __version__ = "2.11.0"

    class cuda:  # noqa: N801
        @staticmethod
        def is_available():
            return False


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_copy_and_each_baseline_a_line(name):
    found = baselines_of(operator(name))
    assert list(found) == [*operator(name).baselines, COPY_NAME]
    assert not found[COPY_NAME].verified and not found[COPY_NAME].replayed
    assert all(baseline.summary and "\n" not in baseline.summary for baseline in found.values())


@pytest.mark.parametrize("name", OPERATORS)
def test_published_figures_are_those_of_presets(name):
    published = operator(name).published
    assert published is None or list(published.shares) == list(operator(name).presets)


def test_a_ladder_tells_presets_from_baselines():
    sgemm = operator("sgemm")
    with pytest.raises(ValueError, match="sgemm: naive names a preset and a baseline"):
        replace(sgemm, baselines={"naive": sgemm.baselines["cublas"]})


@pytest.mark.parametrize("name", ["cublas", "triton"])
@pytest.mark.parametrize(
    ("torch", "remedy"),
    [(None, "needs PyTorch with CUDA: pip install torch"), (NoGpu, "PyTorch 2.11.0 here finds no GPU")],
)
def test_pytorch_that_is_missing_or_sees_no_gpu(monkeypatch, name, torch, remedy):
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(torch_call, "find_spec", lambda name: util.find_spec("pytest"))
    line = SGEMM[name].missing()
    assert line.startswith(f"the baseline {name} needs ")
    assert remedy in line


@pytest.mark.parametrize(
    ("operator_name", "package", "module"),
    [
        ("sgemm", "triton", "triton"),
        ("rms_norm", "liger-kernel", "liger_kernel"),
        ("rms_norm", "quack-kernels", "quack"),
    ],
)
def test_a_package_that_is_missing_beside_pytorch(monkeypatch, operator_name, package, module):
    asked = []
    monkeypatch.setattr(torch_call, "find_spec", asked.append)
    name = package.partition("-")[0]
    assert baselines_of(operator(operator_name))[name].missing().endswith(f"pip install torch {package}")
    assert asked == [module]


def test_cublaslt_that_is_missing(monkeypatch):
    from cuda.pathfinder import DynamicLibNotFoundError

    def find():
        raise DynamicLibNotFoundError("searched here\nand there")

    monkeypatch.setattr(cublaslt, "CublasLt", find)
    assert SGEMM["cublaslt"].missing() == "the baseline cublaslt needs cuBLAS: pip install nvidia-cublas"


@pytest.mark.parametrize("name", ["cublas", "cublaslt", "triton"])
def test_calls_say_which_precision_they_need_before_a_library_is_loaded(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    monkeypatch.setenv("CUBLAS_EMULATE_SINGLE_PRECISION", "1")
    monkeypatch.setattr(torch_call, "find_spec", lambda name: util.find_spec("pytest"))
    SGEMM[name].missing()
    assert not {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION"} & set(os.environ)


def test_heuristic_results_lie_as_in_the_header():
    assert ctypes.sizeof(HeuristicResult) == 96
    assert [getattr(HeuristicResult, name).offset for name, _ in HeuristicResult._fields_] == [0, 64, 72, 76, 80]


@pytest.mark.parametrize("size", [40, 96, 1000])
def test_a_copy_is_filled_with_the_input(size):
    problem = operator("transpose").problem_type(3, 8)  # 96 B
    session = SimpleNamespace(problem=problem, pointer={"a": 1000, "b": 2000}.get)
    memory = bytearray(9000)
    memory[1000:1096] = bytes(range(1, 97))
    for begin, end, origin in filling(session, 5000, size):
        assert end <= origin or origin + end - begin <= begin
        memory[begin:end] = memory[origin : origin + end - begin]
    assert memory[5000 : 5000 + size] == (bytes(range(1, 97)) * 11)[:size]
    assert not any(memory[5000 + size :])


class Recorded:
    """A cublasLt that notes what is set."""

    def __init__(self):
        self.values = {}

    def set(self, handle, attribute, value):
        self.values[attribute.name] = value.value

    def created(self, kind):
        return nullcontext()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"EPILOGUE": 1}),
        ({"residual": True, "bias": Bias.ROW}, {"EPILOGUE": 4, "BIAS_POINTER": 5008}),
        ({"activation": Activation.RELU, "bias": Bias.ROW}, {"EPILOGUE": 6, "BIAS_POINTER": 5008}),
        ({"activation": Activation.GELU_TANH, "preactivation": True, "batch": 2},
         {"EPILOGUE": 160, "EPILOGUE_AUX_POINTER": 6000, "EPILOGUE_AUX_LD": 32, "EPILOGUE_AUX_BATCH_STRIDE": 64 * 32}),
    ],
)  # fmt: skip
def test_cublaslt_ends_with_an_epilogue(fields, expected):
    library, session = Recorded(), SimpleNamespace(pointer={"bias": 5008, "z": 6000}.get)
    cublaslt_epilogue.set_epilogue(library, None, session, GemmProblem(64, 32, 64, **fields), ExitStack())
    assert library.values == expected


@pytest.mark.parametrize(
    ("problem", "masks"),
    [
        (GemmProblem(64, 32, 64), {"REDUCTION_SCHEME_MASK": 2}),
        (SgemmProblem(64, 32, 64), {"IMPL_MASK": 2**64 - 1 - 0xFE}),
    ],
)
def test_cublaslt_has_algorithms_that_are_as_exact_as_ours(problem, masks):
    library, session = Recorded(), SimpleNamespace(problem=problem, pointer=lambda name: 4096)
    with cublaslt._preference(library, session, "badd"):
        assert {name: value for name, value in library.values.items() if "MASK" in name} == masks


def test_cublaslt_adds_a_bias_that_is_aligned_as_it_asks_for(monkeypatch):
    """Misaligned, it crashes with GELU, and takes seven times as long without."""
    monkeypatch.setattr(cublaslt_epilogue, "aligned", lambda session, name, stack: 3008)
    library, session = Recorded(), SimpleNamespace(pointer={"bias": 3002}.get)
    problem = GemmProblem(64, 32, 64, bias=Bias.ROW)
    cublaslt_epilogue.set_epilogue(library, None, session, problem, ExitStack())
    assert library.values["BIAS_POINTER"] == 3008


test_cublaslt_has_not_every_epilogue = refused(
    lambda **fields: cublaslt_epilogue.epilogue_of(GemmProblem(64, 32, 64, **fields)),
    [
        ({"activation": Activation.SILU}, "expected identity, relu, gelu_tanh without gates"),
        ({"gate": Gate.HALVES}, "expected identity, relu, gelu_tanh without gates"),
        ({"activation": Activation.RELU, "residual": True}, "expected no residual"),
        ({"bias": Bias.COLUMN}, "expected bias row"),
        ({"activation": Activation.RELU, "preactivation": True}, "before gelu_tanh only"),
    ],
)


@pytest.mark.parametrize(
    ("fields", "computed"),
    [
        ({}, (68, 0)),
        ({"dtype": DType.FLOAT32}, (77, 0)),
        ({"dtype": DType.FLOAT8_E4M3}, (68, 0)),
        ({"dtype": DType.INT8, "out_dtype": OutDType.INT32}, (72, 10)),
    ],
)
def test_cublaslt_adds_up_as_the_type_asks_for(fields, computed):
    """The values are those of cublas_api.h and library_types.h."""
    assert cublaslt._computed(GemmProblem(64, 64, 64, **fields)) == computed


def test_cublaslt_has_integers_of_32_bits_alone():
    with pytest.raises(DeviceError, match="asked for products of int8 to int32, not to int8"):
        cublaslt._computed(GemmProblem(64, 64, 64, dtype=DType.INT8))


@pytest.mark.parametrize(
    ("scales", "expected"),
    [
        (Scales.NONE, {"FAST_ACCUM": 0}),
        (Scales.TENSOR, {"FAST_ACCUM": 0, "A_SCALE_POINTER": 4000, "B_SCALE_POINTER": 3008}),
        (
            Scales.ROW,
            {"FAST_ACCUM": 0, "A_SCALE_POINTER": 4000, "B_SCALE_POINTER": 3008, "A_SCALE_MODE": 3, "B_SCALE_MODE": 3},
        ),
    ],
)
def test_cublaslt_gets_the_scales_of_its_transposed_product_as_aligned_as_it_asks_for(monkeypatch, scales, expected):
    def copied(*arguments):
        assert arguments == (3008, 3004, 4 if scales is Scales.TENSOR else 256, 7)
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(driver, "cuMemcpyDtoDAsync", copied)
    monkeypatch.setattr(aligned_inputs, "allocated", lambda stack, size: 3008)
    problem = GemmProblem(64, 64, 64, dtype=DType.FLOAT8_E4M3, scales=scales)
    pointer = {"scale_a": 3004, "scale_b": 4000}.get
    library, session = Recorded(), SimpleNamespace(stream=7, problem=problem, pointer=pointer)
    cublaslt._set_scales(library, None, session, problem, ExitStack())
    assert library.values == expected
