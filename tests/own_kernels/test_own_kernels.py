"""What users state of a kernel is checked, and what is stored of it belongs to it."""

import json
import pickle
from contextlib import nullcontext

import numpy as np
import pytest

from autotune import Entry, InOut, Input, Output, Scalar, Value, emulator, kernel
from autotune.compiler import CompileError, compile_kernel
from autotune.db import freshness
from autotune.dispatcher.calls import function
from autotune.own_kernels.load import declared_in
from autotune.own_kernels.source import as_function
from autotune.search_spaces.contract.generator import vouches
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
STATED = {
    "source": "__global__ void twice(float* y, const float* x, int n) {}",
    "entry": "twice",
    "arguments": {"y": Output("float32", "n"), "x": Input("float32", "n"), "n": Value("int")},
    "problem": {"n": 100},
    "parameters": {"threads": [32, 64]},
    "block": "threads",
    "grid": "ceil_div(n, threads)",
    "reference": lambda x: 2 * x,
}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"entry": "thrice"}, "no kernel 'thrice': expected __global__ void thrice.*; it has twice"),
        ({"grid": "ceil_div(m, threads)"}, "grid is ceil_div.*: m is none of n, threads"),
        ({"parameters": {"threads": [32, 32]}}, "expected each of them once"),
        ({"parameters": {"threads": [32, "64"]}}, "expected whole numbers, flags or strings alone"),
        ({"parameters": {"blocks": [32]}}, "blocks is a parameter, and the name of something else here"),
        ({"default": {"threads": 48}}, "threads=48 of the default: expected one of 32, 64"),
        ({"reference": lambda z: z}, "the reference takes z: expected some of n, x"),
        ({"block": ("threads", 1, 1, 1)}, "block has 4 axes"),
        ({"reference": Entry("thrice", grid=1, block=32)}, "the source has no kernel 'thrice'"),
        ({"reference": Entry("twice", grid="threads", block=32)}, "a dimension of the reference is threads"),
        ({"name": "sgemm"}, "the name sgemm is an operator of this package"),
        ({"arguments": {"y": Output("float32", "n"), "n": Value("int")}}, "has no input"),
        ({"arguments": {"x": Input("float32", "k")}, "reference": lambda x: x}, "no output"),
        ({"source": 'void\n#include "no.cuh"\n'}, 'include "no.cuh": there is no'),
    ],
)
def test_what_cannot_be_meant_is_refused(changes, error):
    with pytest.raises((ValueError, TypeError), match=error):
        kernel(**{**STATED, **changes})


def test_a_kernel_of_every_kind_of_argument():
    """A template whose sum goes through dynamic shared memory, with launch bounds, a header and a flag."""
    own = kernel(
        source="""
#include "cuda/numbers.cuh"
template <int WIDTH>
__global__ void /* not here( */ __launch_bounds__(width * (1 + 0), 2)
scaled(const float2* x, float* sums, float16* half, float factor, long long rows) {
  extern __shared__ __align__(16) float parts[];
  parts[threadIdx.x] = threadIdx.x < count ? x[blockIdx.x * count + threadIdx.x].x : 0.0f;
  __syncthreads();
  if (blockIdx.x >= rows || threadIdx.x > 0) return;
  float sum = 0.0f;
  for (int i = 0; i < WIDTH; ++i) sum += parts[flip ? WIDTH - 1 - i : i];
  sums[blockIdx.x] = way * factor * sum;
  half[blockIdx.x] = from_float<float16>(2.0f * to_float(half[blockIdx.x]));
}
""",
        entry="scaled<width>",
        arguments={
            "x": Input("float2", "rows", "count"),
            "sums": Output("float32", "rows"),
            "half": InOut("float16", "rows"),
            "factor": Scalar("float", 3.0),
            "rows": Value("long long"),
        },
        problem={"rows": 5, "count": 30},
        parameters={"width": [32, 64], "flip": [False, True], "way": ["1.0f", "(-1.0f)"]},
        constraints=["way == '1.0f' or flip", lambda count, width: count <= width],
        block="width",
        grid="rows",
        shared_bytes="4 * width",
        reference=lambda x, factor, half: {"sums": factor * x[:, :, 0].sum(axis=1), "half": 2 * half},
        small={"rows": 5, "count": 30},
        whole_numbers=True,
    )
    problem, operator = own.problem(), own.operator
    schedule = operator.parse(["width=64", "flip=1"], problem, H200)
    program = operator.program(problem, schedule, H200)
    assert "void __launch_bounds__(width * (1 + 0), 2) autotune_scaled(const Arguments arguments)" in program.source
    assert [
        operator.violations(own.problem(count=40), operator.schedule(values), H200)
        for values in (
            {"width": 32, "flip": False, "way": "1.0f"},
            {"width": 64, "flip": False, "way": "(-1.0f)"},
        )
    ] == [["<lambda>, with count=40, width=32"], ["way == '1.0f' or flip, with flip=False, way=(-1.0f)"]]
    emulator.verify(problem, program)
    x, half = np.ones((5, 30, 2), np.float32), np.full(5, 1.5, np.float16)
    assert (own(x, half, 2.0) == 60).all()
    assert (half == 3).all()


HALVES = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void halves(__nv_bfloat16* y, half2* z, const half2* x, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = __hadd2(x[i], x[i]);
  if (i < n) y[i] = __float2bfloat16(__low2float(x[i]));
}
"""


def test_headers_of_cuda_are_there_but_not_in_the_emulator():
    own = kernel(
        source=HALVES,
        entry="halves",
        arguments={
            "y": Output("__nv_bfloat16", "n"),
            "z": Output("half2", "n"),
            "x": Input("half2", "n"),
            "n": Value("int"),
        },
        problem={"n": 1000},
        parameters={"threads": [64, 128]},
        block="threads",
        grid="ceil_div(n, threads)",
        reference=lambda x: (x[:, 0], 2 * x),
    )
    operator, problem = own.operator, own.problem(n=300)
    program = operator.program(problem, operator.default(problem, H200), H200)
    assert [str(one.dtype) for one in problem.tensors] == ["bfloat16", "float16", "float16"]
    assert compile_kernel(program, "sm_90").cubins
    with pytest.raises(
        CompileError, match=r"#include <cuda_fp16\.h>: the emulator has no headers of CUDA; a GPU runs it"
    ):
        emulator.verify(problem, program)


PLAIN = """
__global__ void plain(float* c, int* order, const float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = 3.0f * a[i];
  if (i < n) order[i] = i;
}
"""
FAST = """
__global__ void fast(float* c, int* order, const float* a, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) c[i] = a[i] + a[i] + a[i];
  if (i < n) order[i] = i;
}
"""


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (("", ""), ""),
        (("order[i] = i;\n}\n", "order[i] = n;\n}\n"), "wrong.*order"),
        (("+ a[i];", "- a[i];"), "wrong.*c"),
    ],
)
def test_another_entry_says_what_is_right(change, found):
    own = kernel(
        source=PLAIN + FAST.replace(*change),
        entry="fast",
        arguments={
            "c": Output("float32", "n"),
            "order": Output("int32", "n"),
            "a": Input("float32", "n"),
            "n": Value("int"),
        },
        problem={"n": 1000},
        parameters={"threads": [64, 128]},
        block="threads",
        grid="ceil_div(n, threads)",
        reference=Entry("plain", grid="ceil_div(n, 128)", block=128),
        whole_numbers=True,
    )
    operator, problem = own.operator, own.problem(n=300)
    assert operator.reference
    assert compile_kernel(operator.reference(problem), "sm_90").cubins
    program = operator.program(problem, operator.default(problem, H200), H200)
    with pytest.raises(emulator.EmulatorError, match=found) if found else nullcontext():
        emulator.verify(problem, program)


def test_only_values_that_are_stated_become_macros(written):
    operator = declared_in(str(written()))
    problem = operator.problem_type(1000)
    for values in ({"block_size": 48, "per_thread": 1}, {"block_size": 32, "per_thread": "1; evil"}):
        with pytest.raises(ValueError, match="expected"):
            operator.program(problem, operator.schedule(values), H200)


def test_a_name_of_a_file_from_elsewhere_is_never_run(written):
    path = written(bad=("import autotune\n", "import autotune\nraise SystemExit\n"))
    with pytest.raises(ValueError, match="unknown operator"):
        freshness.registered(str(path))


def test_another_file_has_another_name(written):
    declared_in(str(written("one.py")))
    with pytest.raises(Exception, match=r"the name vector_add is that of .*one\.py: expected another one"):
        declared_in(str(written("two.py")))


def test_a_changed_kernel_is_another_program(written):
    operator = declared_in(str(written("one.py")))
    problem, schedule = operator.problem_type(1000), {"block_size": 64, "per_thread": 1}
    program = operator.program(problem, operator.schedule(schedule), H200)
    assert freshness.changed(operator, problem, H200, schedule, program.digest) == ""
    del OPERATORS["vector_add"]
    changed = declared_in(str(written("two.py", plus=("a[i] + b[i]", "b[i] + a[i]"))))
    edited = changed.problem_type(1000)
    assert freshness.changed(changed, edited, H200, schedule, program.digest) == freshness.OTHER_PROGRAM
    assert freshness.judge(operator, problem) == freshness.judge(changed, edited)
    del OPERATORS["vector_add"]
    judged = declared_in(str(written("three.py", plus=("lambda a, b: a + b", "lambda a, b: b - -a"))))
    assert freshness.judge(operator, problem) != freshness.judge(judged, judged.problem_type(1000))
    assert not vouches(operator)


def test_a_function_of_a_kernel_that_was_declared_anew_is_cleared_as_others_are(monkeypatch):
    cleared = []
    kernel(**STATED)
    held = function.dispatched("twice")
    kernel(**STATED)
    monkeypatch.setattr(function.Dispatched, "clear", lambda self: cleared.append(self))
    function.clear()
    assert function.dispatched("twice") is not held
    assert held in cleared


def test_what_is_sent_to_other_processes_is_restored(written):
    operator = declared_in(str(written()))
    problem, schedule = operator.problem_type(1000), operator.kernels[0].schedule_type(64, 2)
    assert pickle.loads(pickle.dumps((problem, schedule))) == (problem, schedule)
    assert str(written()).encode() in pickle.dumps(problem)


def test_words_about_other_kernels_are_not_read():
    hidden = 'extern "C" __global__ void other(int a);\n// __global__ void f(\n"__global__ void f("; '
    source = f"{hidden}__global__ void f(int b) {{}}"
    assert as_function(source, "f").source == source.replace("; __global__", "; __device__ __forceinline__")
    assert json.dumps(as_function(source, "other").attributes) == "[]"
