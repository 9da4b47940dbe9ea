"""export: what is written, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_command import Command
from dispatcher.records import schedule, trial

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.db import TuningDB

KNOWN = SgemmProblem(64, 64, 32)


@pytest.fixture
def export(autotune: Command, tmp_path: Path) -> Command:
    suite = tmp_path / "suite.json"
    suite.write_text('[{"m": 64, "n": 64, "k": 32}, {"m": 65, "n": 64, "k": 32}]')
    with TuningDB() as database:
        database.record(trial(KNOWN, schedule(0, KNOWN)))

    def call(*options: str) -> object:
        return autotune("export", "sgemm", "--device", "h200", "--suite", str(suite), *options)

    return call


def test_a_folder_for_c_is_written(export: Command, tmp_path: Path) -> None:
    outcome = export("-o", str(tmp_path / "c"))
    assert (outcome.code, outcome.stdout) == (0, f"wrote 1 records and 4 kernels to {tmp_path / 'c'}\n")
    assert outcome.stderr == "without a record, served as other sizes are: m65-n64-k32-nn\n"
    assert f"{{{{64, 64, 32}}, {(1e-5).hex()}" in (tmp_path / "c" / "tables.hpp").read_text()
    document = export("-o", str(tmp_path / "again"), "--json").json
    assert (document["records"], document["missing"]) == ([KNOWN.key], ["m65-n64-k32-nn"])


def test_bad_input_is_one_line(export: Command, autotune: Command, tmp_path: Path) -> None:
    folder = str(tmp_path / "c")
    assert export("-o", str(tmp_path)).stderr == f"autotune: {tmp_path} exists: name a folder to make\n"
    for arguments, code, message in (
        (("sgemm", "--device", "h200", "--m", "8", "-o", folder), 1, "no record of these problems on NVIDIA H200: "),
        (("sgemm", "--device", "h200", "--batch", "2", "-o", folder), 2, "m4096-n4096-k4096-nn-batch2: only dense"),
        (("transpose", "-o", folder), 2, "transpose is not exported, only sgemm is"),
    ):
        outcome = autotune("export", *arguments)
        assert (outcome.code, outcome.stdout) == (code, "")
        assert outcome.stderr.startswith(f"autotune: {message}")
        assert not Path(folder).exists()
