"""What emit prints is the operator's source, whole and compilable."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from dispatcher.records import trial

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.model.schedule import Specialize
from autotune.contract.nvrtc import NVCC, UNOPTIMISED
from autotune.db import ProblemRecord, TuningDB
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.machine.devices import named_device


def test_words_change_the_default_schedule(autotune):
    sgemm = operator("sgemm")
    problem, spec = sgemm.problem_type(1000, 256, 64, transpose_b=True), named_device("a100")
    schedule = sgemm.kernels[0].schedule_type.parse(["BK=8"], sgemm.default(problem, spec))
    sizes = ("--m", "1000", "--n", "256", "--k", "64", "--transpose-b")
    outcome = autotune("emit", "sgemm", "BK=8", *sizes, "--device", "a100")
    assert (outcome.code, outcome.stderr) == (0, "")
    assert outcome.stdout == sgemm.program(problem, schedule, spec).source


def test_json_has_all_that_a_launch_needs(autotune):
    document = autotune("emit", "sgemm", "--device", "h200", "--json").json
    assert list(document) == [
        "operator", "problem", "schedule", "modules", "steps", "workspace_bytes", "digest", "path", "source",
    ]  # fmt: skip
    assert document["problem"]["m"] == 4096
    assert document["steps"][0]["entry"] in document["source"]
    assert len(document["steps"][0]["grid"]) == 3
    assert document["modules"][0]["arguments"][0]["name"] == "a"


@pytest.mark.parametrize("name", OPERATORS)
def test_presets_are_printed(autotune, name):
    presets = list(operator(name).presets)
    for preset in {presets[0], presets[-1]}:
        outcome = autotune("emit", name, "--preset", preset, "--json")
        assert outcome.json["schedule"] is None
        assert outcome.json["steps"][0]["entry"] in outcome.json["source"]


def test_a_file_is_replaced_as_a_whole(autotune, tmp_path):
    path = tmp_path / "folder" / "kernel.cu"
    path.parent.mkdir()
    path.write_text("old")
    outcome = autotune("emit", "sgemm", "--device", "h200", "-o", str(path))
    assert (outcome.code, outcome.stdout) == (0, "")
    assert path.read_text() == autotune("emit", "sgemm", "--device", "h200").stdout
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
def test_nvcc_accepts_it(autotune, tmp_path):
    """One operator's will do: the contract tests have nvcc accept what each of them emits."""
    path = tmp_path / "kernel.cu"
    autotune("emit", "sgemm", "--device", "h200", "-o", str(path))
    subprocess.run([NVCC, "-c", *UNOPTIMISED, "-arch=sm_90", path, "-o", tmp_path / "kernel.o"], check=True)


def test_what_the_compiler_makes_is_printed_with_registers_and_spills(autotune, tmp_path, monkeypatch):
    problem = ("emit", "transpose", "--m", "64", "--n", "64", "--device", "h200")
    first, *rest = autotune(*problem, "--ptx").stdout.splitlines()
    assert re.fullmatch(r"// sm_90, NVRTC .*: \d+ registers of a thread, 0 B stored and 0 B loaded as spills", first)
    assert ".target sm_90" in rest and any(".entry transpose(" in line for line in rest)
    assert autotune(*problem, "--ptx", "--sass").code == 2
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "nvdisasm was not found; install the CUDA toolkit" in autotune(*problem, "--sass").stderr
    tool = tmp_path / "nvdisasm"
    tool.write_text("#!/bin/sh\necho instructions of $1\n")
    tool.chmod(0o700)
    assert autotune(*problem, "--sass").stdout.splitlines()[1] == "instructions of --print-code"


KNOWN, OTHER = TransposeProblem(64, 64), TransposeProblem(65, 64)


@pytest.fixture
def export(autotune, tmp_path):
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 64, "n": 64}, {"m": 65, "n": 64}]')
    with TuningDB() as database:
        known = ProblemRecord("transpose", KNOWN.key, KNOWN.to_dict())
        database.record(replace(trial(KNOWN, TransposeSchedule(specialize=Specialize.SHAPE)), problem=known))

    def call(*options):
        return autotune("export", "transpose", "--device", "h200", "--suite", str(suite), "--sizes", "40", *options)

    return call


def test_a_folder_for_c_is_written(export, tmp_path):
    outcome = export("-o", str(tmp_path / "c"), "--sizes", "500")
    assert outcome.code == 0
    kernels = len(list((tmp_path / "c").glob("*.cubin")))
    assert outcome.stdout == f"wrote 2 records and {kernels} kernels to {tmp_path / 'c'}\n"
    assert outcome.stderr == f"without a record, served by the nearest one or by the time model: {OTHER.key}\n"
    assert f": {TransposeSchedule(specialize=Specialize.SHAPE)}\n" in (tmp_path / "c" / "tables.hpp").read_text()
    document = export("-o", str(tmp_path / "again"), "--check", "20", "--json").json
    assert (document["records"], document["missing"]) == ([KNOWN.key], [OTHER.key])
    assert 0.5 < document["agreement"] <= 1
    assert document["regret"] < 0.1


def test_bad_input_is_one_line(export, autotune, tmp_path):
    folder = str(tmp_path / "c")
    assert export("-o", str(tmp_path)).stderr == f"autotune: {tmp_path} exists: name a folder to make\n"
    outcome = autotune("export", "transpose", "--device", "h200", "--lda", "8192", "-o", folder)
    assert (outcome.code, outcome.stdout) == (2, "")
    padded, dense = (TransposeProblem(4096, 4096, lda=lda).key for lda in (8192, 4096))
    assert outcome.stderr.startswith(f"autotune: {padded}: expected {dense}, of the kind")
    assert not Path(folder).exists()
    outcome = autotune("export", "transpose", "--device", "h200", "--m", "0", "-o", folder)
    assert outcome.stderr == "autotune: m=0: an export serves sizes of at least 1\n"
    assert not Path(folder).exists()
