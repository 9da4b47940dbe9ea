"""What an export writes, and what it refuses."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export.exports import H200, drawn
from refusals import refused

from autotune.bench.dispatch.example_call import problem_of_sizes
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.vision.scale_boxes.problem import ScaleBoxesProblem
from autotune.compiler import CompileError
from autotune.contract.nvrtc import INCLUDE, NVCC
from autotune.devices.cuda import CudaDevice
from autotune.export import bundle_of, kernels_of, write, write_bundle
from autotune.export.example import cases, example, write_data
from autotune.export.interface import header, source
from autotune.export.terms import Values
from autotune.search_spaces.contract.registry import OPERATORS, operator

SGEMM = operator("sgemm")


def small(*problems):
    name = "transpose" if isinstance(problems[0], TransposeProblem) else "sgemm"
    return bundle_of(operator(name), problems, H200, [])


def exported_small(problem):
    return kernels_of(small(problem), 30)


def test_a_specialised_kernel_serves_its_own_sizes_alone():
    exported = drawn(operator("transpose"), 6, ("m", "n"))
    bundle = exported.bundle
    chosen = {problem: exported.serving(bundle.sizes(problem))[0] for problem in bundle.problems}
    special = {problem: one for problem, one in chosen.items() if one not in bundle.schedules}
    assert special
    for problem, schedule in special.items():
        own = bundle.sizes(problem)
        for sizes, serves in ((own, True), (own | {"m": own["m"] + 4}, False)):
            serving = exported.serving(sizes)
            assert serving and (serving[0] == schedule) is serves


def test_a_source_with_values_serves_the_sizes_that_have_them():
    softmax = operator("softmax")
    exported = kernels_of(
        bundle_of(softmax, [softmax.problem_type(64, 4096), softmax.problem_type(64, 512)], H200, []), 30
    )
    sizes = {"rows": 64, "columns": 4096}
    schedule, plan = exported.serving(sizes) or pytest.fail("nothing serves")
    assert "rounds = " in exported.programs[plan].code
    launched = exported.launched[schedule]
    served = [Values(exported.terms, sizes | one)[launched] >= 0 for one in ({}, {"rows": 1000}, {"columns": 65536})]
    assert served == [True, True, False]


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_is_exported(name):
    op = operator(name)
    problem = problem_of_sizes(op.problem_type, lambda *_: 512)
    exported = kernels_of(bundle_of(op, [problem], H200, []), 20)
    drawn_here = list(exported.bundle.drawn_sizes(40, seed=3))
    missed = [one for one in drawn_here if exported.serving(one) is None]
    # Launches of several sources have many combinations, of which few sizes find some.
    assert len(missed) <= (12 if name == "conv2d_planes" else 5), missed


test_what_c_does_not_serve_is_not_exported = refused(
    small,
    [
        (SgemmProblem(8, 8, 8, align_a=4), "expected m8-n8-k8-nn, .* with dense operands aligned to 16 bytes"),
        (SgemmProblem(8, 8, 8, lda=16), "expected m8-n8-k8-nn, "),
        ((SgemmProblem(8, 8, 8), SgemmProblem(8, 8, 8, transpose_a=True)), "of the kind of m8-n8"),
        ((SgemmProblem(8, 8, 8), SgemmProblem(8, 8, 8, beta_nonzero=True)), "of the kind of m8-n8"),
    ],
)


def test_the_interface_has_the_operators_pointers_sizes_and_scalars():
    plain = exported_small(SgemmProblem(64, 64, 64))
    assert "float alpha, CUdeviceptr workspace" in header(plain)  # C is not read: no beta
    assert "beta is 0" in header(plain)
    reading = exported_small(SgemmProblem(64, 64, 64, batch=2, beta_nonzero=True))
    assert "long long k, long long batch, float alpha, float beta, CUdeviceptr workspace" in header(reading)
    assert "&workspace, &alpha, &beta}" in source(reading) and "const float beta = 0;" in source(plain)
    for exported, reads in ((plain, False), (reading, True)):
        assert {"fmaf(beta, elements[i]" in program.source for program in exported.sources.values()} == {reads}


def test_the_example_rounds_no_scalar():
    dropout = operator("dropout")
    problem = dropout.problem_type(64, 4096)
    text = example(kernels_of(bundle_of(dropout, [problem], H200, []), 30))
    assert f"{problem.scalars['seed']}ULL" in text


def test_no_name_of_a_device_ends_a_comment():
    spec = replace(H200, name="X */ int f(void) { return 42; } /*")
    exported = kernels_of(bundle_of(SGEMM, [SgemmProblem(64, 64, 64)], spec, []), 30)
    comment, _, _ = header(exported).partition("#ifdef")
    assert comment.count("*/") == 1


def test_a_folder_is_written_as_a_whole(tmp_path, monkeypatch):
    exported = exported_small(TransposeProblem(300, 500))
    write_bundle(exported, tmp_path / "export")
    names = {path.name for path in (tmp_path / "export").iterdir()}
    cubins = {name for name in names if name.endswith(".cubin")}
    assert names - cubins == {"transpose.h", "transpose.cpp", "tables.hpp", "example.cpp", "data", *write.HEADERS}
    assert len(cubins) == len(exported.sources) > 1
    assert all(name in (tmp_path / "export" / "tables.hpp").read_text() for name in cubins)

    def refuse(*_):
        raise CompileError("no such register")

    monkeypatch.setattr(write, "tables", refuse)
    with pytest.raises(CompileError):
        write_bundle(exported, tmp_path / "failed")
    with pytest.raises(FileExistsError):
        write_bundle(exported, tmp_path / "export")
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("transpose", TransposeProblem(300, 500)),
        ("sgemm", SgemmProblem(64, 64, 64, beta_nonzero=True)),
        ("scale_boxes", ScaleBoxesProblem(300)),  # whose size is a count
    ],
)
def test_the_example_compiles(name, problem, tmp_path):
    exported = kernels_of(bundle_of(operator(name), [problem], H200, []), 30)
    write.write_sources(exported, tmp_path)
    command = [os.environ.get("CXX", "g++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", INCLUDE, "-c"]
    subprocess.run([*command, "example.cpp", f"{name}.cpp"], cwd=tmp_path, check=True)
    (tmp_path / "c.c").write_text(f'#include "{name}.h"\n')
    subprocess.run(["gcc", "-Wall", "-Werror", INCLUDE, "-c", "c.c"], cwd=tmp_path, check=True)


def test_a_nan_that_is_expected_exactly_may_have_any_bits(tmp_path):
    dropout = operator("dropout")
    exported = kernels_of(bundle_of(dropout, [dropout.problem_type(1, 544)], H200, []), 30)
    write_data(exported, tmp_path)
    nans = 0
    for number, case in enumerate(map(exported.bundle.problem, cases(exported))):
        expected = case.reference(case.inputs(number), case.scalars)["y"]
        low, high = (np.fromfile(tmp_path / f"{number}.1.{end}", expected.dtype) for end in ("low", "high"))
        free = np.isnan(expected)
        assert np.signbit(low[free]).all() and not np.signbit(high[free]).any()
        assert (low[~free] == expected[~free]).all() and (high[~free] == expected[~free]).all()
        nans += free.sum()
    assert nans


def test_the_example_finds_right_and_wrong_results(tmp_path):
    write.write_sources(exported_small(TransposeProblem(300, 500)), tmp_path)
    driver = Path(__file__).parent / "fake_driver.cpp"
    compiler = [os.environ.get("CXX", "g++"), "-std=c++17", INCLUDE, "-I."]
    subprocess.run([*compiler, "example.cpp", "transpose.cpp", driver, "-o", "example"], cwd=tmp_path, check=True)
    for environment, code, last in (({}, 0, "passed"), ({"WRONG": "1"}, 1, "FAILED")):
        done = subprocess.run(["./example"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (code, last), done.stdout + done.stderr


@pytest.mark.gpu
@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
@pytest.mark.parametrize("problem", [TransposeProblem(300, 500), SgemmProblem(512, 256, 4096, beta_nonzero=True)])
def test_the_example_passes(problem, tmp_path):
    name = "transpose" if isinstance(problem, TransposeProblem) else "sgemm"
    write_bundle(kernels_of(bundle_of(operator(name), [problem], CudaDevice(0).spec, []), 30), tmp_path / "export")
    command = [NVCC, "-std=c++17", "-O2", "example.cpp", f"{name}.cpp", "-lcuda", "-o", "example"]
    subprocess.run(command, cwd=tmp_path / "export", check=True)
    done = subprocess.run(["./example", "."], cwd=tmp_path / "export", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["passed"]), done.stdout + done.stderr
