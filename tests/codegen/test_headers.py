"""Sources hold what one kernel uses and nothing else, and entries declare what a block takes."""

import re
from dataclasses import replace

import pytest

from autotune.codegen.layout.transpose import presets as transpose
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.matmul.sgemm import presets as sgemm
from autotune.codegen.matmul.sgemm.emit import emit
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.source import headers

SQUARE = SgemmProblem(4096, 4096, 4096)

STREAMED = SgemmSchedule(
    stages=3, copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, vector_a=1, copy_steps=4, grid_blocks=264
)

LADDERS = {f"sgemm {name}": preset(SQUARE).source for name, preset in sgemm.PRESETS.items()} | {
    f"transpose {name}": preset(TransposeProblem(4096, 8192)).source for name, preset in transpose.PRESETS.items()
}

SCHEDULES = {
    "default": SgemmSchedule(),
    "streamed": STREAMED,
    "sliced": replace(STREAMED, warps_k=2, block_k=32, cluster_k=2),
    "direct": replace(STREAMED, copy_a=CopyMode.DIRECT, copy_steps=1),
    "swizzled": SgemmSchedule(pad_a=0, swizzle_a=True, swizzle_b=True),
}

SOURCES = LADDERS | {
    f"{name} {problem.key}": emit(problem, schedule).source
    for name, schedule in SCHEDULES.items()
    for problem in (SQUARE, SgemmProblem(1001, 1002, 1003, align_b=4, batch=2, beta_nonzero=True))
}

_COMMENT = re.compile(r"//.*")

_DEFINED = re.compile(
    r"^(?:(?:struct|class|enum class|using) (\w+)|(?:__device__|constexpr)[^=(;]*?\b(\w+)(?:<[^()]*>)?(?:\(| = ))", re.M
)

_CONSTANT = re.compile(r"^  (?:static constexpr|const) [\w ]+ (\w+)(?: = |;)", re.M)


@pytest.mark.parametrize("rung", LADDERS)
def test_rungs_of_a_ladder_are_short(rung):
    most = 100 if "naive" in rung or "coalesced" in rung else 280
    assert len(LADDERS[rung].splitlines()) <= most


@pytest.mark.parametrize("name", SOURCES)
def test_every_definition_is_used(name):
    source = _COMMENT.sub("", SOURCES[name])
    defined = [first or second for first, second in _DEFINED.findall(source)]
    assert defined
    for one in set(defined) - {"Arguments"}:
        assert len(re.findall(rf"\b{one}\b", source)) > defined.count(one), one


@pytest.mark.parametrize("name", SOURCES)
def test_every_constant_is_read(name):
    for struct in re.findall(r"^struct (Schedule|Problem) \{\n(.*?)^\};", SOURCES[name], re.M | re.S):
        for one in _CONSTANT.findall(struct[1]):
            assert re.search(rf"\b{struct[0]}::{one}\b|\b{struct[0].lower()}\.{one}\b", SOURCES[name]), one


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """The source of `entry` from the text of a header, which may include `other.cuh`."""
    monkeypatch.setattr(headers, "_FOLDER", tmp_path)
    (tmp_path / "other.cuh").write_text("#pragma once\n// Other.\n\nint other() { return 1; }\n\nint unused();\n")

    def source(text, **constants):
        caches = (headers._parsed, headers._own_condition_names, headers._condition_names, headers._parts)
        for cached in (*caches, headers._used_source):
            cached.cache_clear()
        (tmp_path / "kernel.cuh").write_text(text)
        return headers.used_source("kernel.cuh", "entry", constants)

    return source


def test_conditions_on_constants_are_resolved(kernel):
    text = """#if mode == fast && stages > 1
int entry() { return 1; }
#elif !(mode == fast) || stages != 1
int entry() { return 2; }
#else
int entry() { return 3; }
#endif
"""
    fast = {"fast": "fast", "mode": "fast"}
    assert kernel(text, **fast, stages=2) == "int entry() { return 1; }\n"
    assert kernel(text, **fast, stages=1) == "int entry() { return 3; }\n"
    assert kernel(text, **(fast | {"mode": "slow"}), stages=1) == "int entry() { return 2; }\n"
    with pytest.raises(NameError, match="stages is neither a field of the schedule nor a fact"):
        kernel(text, **fast)


def test_conditions_of_the_compiler_stay(kernel):
    text = """int entry() {
#if !defined(EMULATOR) && __CUDA_ARCH__ >= 900
#  if deep
  return 1;
#  endif
#else
  return 2;
#endif
}
"""
    resolved = text.replace("#  if deep\n  return 1;\n#  endif\n", "")
    assert kernel(text, deep=0) == resolved
    assert kernel(text, deep=1) == resolved.replace("#else", "  return 1;\n#else")


def test_what_the_entry_does_not_reach_is_left_out(kernel):
    text = """#include "other.cuh"
// The kernel.

// Recursive, and never called.
template <int n>
int lonely() { return lonely<n>(); }

struct Used {
  int member;
};

int entry() { return Used{other()}.member; }
"""
    assert kernel(text) == (
        "// Other.\n\nint other() { return 1; }\n\n// The kernel.\n\nstruct Used {\n  int member;\n};\n\n"
        "int entry() { return Used{other()}.member; }\n"
    )
    assert "Other" not in kernel(text.replace("other()", "1"))


def test_an_entry_declares_its_block_and_its_cluster():
    footprint = Footprint(128, shared_bytes=64, cluster=2, min_blocks_per_sm=3)
    assert footprint.entry("f", "g();") == (
        'extern "C" __global__ void __launch_bounds__(128, 3) __cluster_dims__(2, 1, 1)\n'
        "    f(const Arguments arguments) {\n  g();\n}\n"
    )
    launch = footprint.launch("f", 6)
    assert (launch.grid, launch.threads, launch.shared_bytes, launch.cluster) == ((6, 1, 1), 128, 64, (2, 1, 1))


def test_tensor_maps_are_read_where_the_arguments_lie():
    assert "f(const __grid_constant__ Arguments arguments)" in Footprint(32).entry("f", "g();", tensor_maps=True)
