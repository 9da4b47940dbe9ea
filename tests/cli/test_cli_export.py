"""export: what is written, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from cli_command import Command
from dispatcher.records import trial

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.model.schedule import Specialize
from autotune.db import ProblemRecord, TuningDB

KNOWN, OTHER = TransposeProblem(64, 64), TransposeProblem(65, 64)


@pytest.fixture
def export(autotune: Command, tmp_path: Path) -> Command:
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 64, "n": 64}, {"m": 65, "n": 64}]')
    with TuningDB() as database:
        known = ProblemRecord("transpose", KNOWN.key, KNOWN.to_dict())
        database.record(replace(trial(KNOWN, TransposeSchedule(specialize=Specialize.SHAPE)), problem=known))

    def call(*options: str) -> object:
        return autotune("export", "transpose", "--device", "h200", "--suite", str(suite), "--sizes", "40", *options)

    return call


def test_a_folder_for_c_is_written(export: Command, tmp_path: Path) -> None:
    outcome = export("-o", str(tmp_path / "c"))
    assert outcome.code == 0
    kernels = len(list((tmp_path / "c").glob("*.cubin")))
    assert outcome.stdout == f"wrote 2 records and {kernels} kernels to {tmp_path / 'c'}\n"
    assert outcome.stderr == f"without a record, served by the nearest one or by the time model: {OTHER.key}\n"
    assert "{{64, 64}, " in (tmp_path / "c" / "tables.hpp").read_text()
    document = export("-o", str(tmp_path / "again"), "--check", "20", "--json").json
    assert (document["records"], document["missing"]) == ([KNOWN.key], [OTHER.key])
    assert document["agreement"] > 0.5
    assert document["regret"] < 0.1


def test_bad_input_is_one_line(export: Command, autotune: Command, tmp_path: Path) -> None:
    folder = str(tmp_path / "c")
    assert export("-o", str(tmp_path)).stderr == f"autotune: {tmp_path} exists: name a folder to make\n"
    outcome = autotune("export", "transpose", "--device", "h200", "--lda", "8192", "-o", folder)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(
        f"autotune: {TransposeProblem(4096, 4096, lda=8192).key}: expected a problem of the kind"
    )
    assert not Path(folder).exists()
