"""cuBLAS serves where it was measured to be faster and somebody asked for it, and computes what a kernel would."""

import ctypes
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from dispatcher.records import H200, SGEMM, problem, schedule, trial
from fake_gpu import A, B, C, FakeTensor
from views import strided

from autotune import dispatcher
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.db.comparison import BaselineTimes
from autotune.dispatcher.arrays.views import HOST
from autotune.dispatcher.choice import called
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.targets import cublas
from autotune.dispatcher.targets.base import LaunchError

KNOWN = problem(512)


@pytest.fixture
def known(database):
    """A record that cuBLAS was faster than, and one that it was not."""
    for number, (one, seconds) in enumerate(((KNOWN, 0.9e-5), (problem(640), 1.1e-5))):
        database.record(trial(one, schedule(number, one)).compared(BaselineTimes(1e-5, {"cublas": seconds}, {})))


def call(m=512):
    dispatcher.sgemm(FakeTensor(A, (m, 512)), FakeTensor(B, (512, 512)), out=FakeTensor(C, (m, 512)), alpha=0.5)


def test_it_serves_where_it_was_faster_and_is_asked_for(gpu, known):
    call()
    assert "raster_group = 100" in gpu.loaded[-1].source
    dispatcher.configure(never_worse_than="cublas")
    call()
    assert len(gpu.loaded) == 1  # a problem that has a plan keeps it
    call(640)
    assert "raster_group = 101" in gpu.loaded[-1].source


def test_the_decision_is_made_once_and_it_gets_the_calls_arguments(gpu, known):
    dispatcher.configure(never_worse_than="cublas")
    for _ in range(3):
        call()
    assert gpu.loaded == ["cublas"]
    assert all(values.items() >= {"a": A, "b": B, "c": C, "alpha": 0.5}.items() for _, values in gpu.launched)
    assert called.untuned_calls("sgemm", H200.name) == []
    found = dispatcher.explain("sgemm", device="h200", m=512, n=512, k=512)
    assert [choice.rule for choice in found.considered[:2]] == [Rule.BASELINE, Rule.EXACT]
    assert found.chosen.origin == "cublas"


@pytest.mark.parametrize("at_launch", [False, True])
def test_where_it_fails_the_record_serves(gpu, known, at_launch, monkeypatch):
    dispatcher.configure(never_worse_than="cublas")
    if at_launch:
        gpu.substitute = lambda problem, substitute: SimpleNamespace(bound=lambda packed: failing)
    else:
        gpu.refused = {"cublas": LaunchError("cuBLAS is not installed")}
    with pytest.warns(RuntimeWarning, match="skipped cublas: cuBLAS is not installed"):
        call()
    assert "raster_group = 100" in gpu.loaded[-1].source
    assert len(gpu.launched) == 1


def failing(stream):
    raise LaunchError("cuBLAS is not installed")


def test_no_other_problem_gets_it(gpu, known):
    dispatcher.configure(never_worse_than="cublas")
    call(513)
    assert "cublas" not in gpu.loaded


@pytest.mark.filterwarnings("error")  # it is not even tried
def test_no_numpy_array_gets_it(known):
    dispatcher.configure(never_worse_than="cublas")
    (choice,) = dispatcher.warm([KNOWN], HOST)
    assert choice.rule is Rule.EXACT


class Library:
    """cuBLAS on the host, with column-major matrices as its documentation has them."""

    def __init__(self):
        self.called = []

    def cublasCreate_v2(self, handle):  # noqa: N802
        handle._obj.value = 0xB1A5
        return 0

    def cublasSetStream_v2(self, handle, stream):  # noqa: N802
        self.called.append((handle.value, stream.value))
        return 0

    def cublasSgemm_v2(self, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):  # noqa: N802
        arguments = (op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1)
        return self._multiply(*arguments)

    def cublasSgemmStridedBatched(self, handle, *arguments):  # noqa: N802
        plain = [one.value if isinstance(one, ctypes.c_longlong) else one for one in arguments]
        return self._multiply(*plain)

    def _multiply(self, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch):
        alpha, beta = (ctypes.cast(one, ctypes.POINTER(ctypes.c_float))[0] for one in (alpha, beta))
        for number in range(batch):
            first = columns(a, stride_a * number, lda, *((k, m) if op_a else (m, k)))
            second = columns(b, stride_b * number, ldb, *((n, k) if op_b else (k, n)))
            out = columns(c, stride_c * number, ldc, m, n)
            product = (first.T if op_a else first) @ (second.T if op_b else second)
            out[...] = alpha * product + (beta * out if beta else 0)
        return 0


def columns(pointer, offset, leading, rows, width):
    """A column-major matrix at an address."""
    words = offset + leading * (width - 1) + rows
    memory = (ctypes.c_float * words).from_address(pointer.value)
    flat = np.frombuffer(memory, np.float32)[offset:]
    return np.lib.stride_tricks.as_strided(flat, (rows, width), (4, 4 * leading))


@pytest.fixture
def library(monkeypatch):
    found = Library()
    monkeypatch.setattr(cublas, "library", lambda: found)
    monkeypatch.setattr(cublas, "relaxed_captures", nullcontext)
    return found


CUBLAS = SGEMM.substitutes["cublas"]
CONTEXT = SimpleNamespace(handle=1, made_current=nullcontext)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("batch", [1, 3])
def test_it_computes_what_the_kernel_would(library, transpose_a, transpose_b, batch):
    m, n, k = 5, 7, 6
    make = partial(strided, gap=2, between=3)
    a = make((batch, m, k), column_major=transpose_a, seed=1)
    b = make((batch, k, n), column_major=transpose_b, seed=2)
    c = make((batch, m, n), seed=3)
    leading = {"lda": (m if transpose_a else k) + 2, "ldb": (k if transpose_b else n) + 2, "ldc": n + 2}
    strides = {f"stride_{name}": one.strides[0] // 4 for name, one in (("a", a), ("b", b), ("c", c))}
    wanted = SgemmProblem(m, n, k, transpose_a, transpose_b, batch=batch, **leading, **strides, beta_nonzero=True)
    expected = 1.5 * a @ b - 0.5 * c
    source = SGEMM.program(wanted, SGEMM.default(wanted, H200), H200)
    pointers = {"a": a.ctypes.data, "b": b.ctypes.data, "c": c.ctypes.data, "workspace": 0}
    launch = cublas.CublasKernel(wanted, CUBLAS, CONTEXT).bound(source.pack(pointers, {"alpha": 1.5, "beta": -0.5}))
    launch(77)
    np.testing.assert_allclose(c, expected, rtol=0, atol=1e-5)
    assert library.called == [(0xB1A5, 77)]


def test_a_refused_call_is_a_launch_error(library, monkeypatch):
    monkeypatch.setattr(library, "cublasSetStream_v2", lambda handle, stream: 7)
    source = SGEMM.program(KNOWN, SGEMM.default(KNOWN, H200), H200)
    names = dict.fromkeys(argument.name for argument in source.arguments)
    packed = source.pack(dict.fromkeys(names, 0), dict.fromkeys(names, 0.0))
    with pytest.raises(LaunchError, match="cublasSetStream_v2 failed with status 7"):
        cublas.CublasKernel(KNOWN, CUBLAS, CONTEXT).bound(packed)(1)


@pytest.mark.parametrize("switch", ["NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION"])
def test_less_than_fp32_is_refused(library, monkeypatch, switch):
    monkeypatch.setenv(switch, "1")
    with pytest.raises(LaunchError, match=f"not compute in true FP32 where {switch}=1"):
        cublas.CublasKernel(KNOWN, CUBLAS, CONTEXT)
