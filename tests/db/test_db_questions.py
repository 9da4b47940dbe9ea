"""The ten questions of docs/database.md are answered as written there, on SQLite and on PostgreSQL."""

import re
from dataclasses import asdict
from pathlib import Path

import pytest
from sqlalchemy import text
from test_db_study import run_record
from trial_factory import trial

from autotune.db import DeviceRecord, Outcome, ProblemRecord, Status
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

PAGE = Path(__file__).parents[2] / "docs" / "database.md"
SGEMM = operator("sgemm")
LARGE, SMALL = "m4096-n4096-k4096-nn", "m64-n64-k64-nn"
H200, T4 = "NVIDIA H200", "Tesla T4"
RATE = 2 * 4096**3 / 1e12


def answers():
    """Question and code, in the order of the page."""
    _, _, section = PAGE.read_text().partition("## Ten questions\n")
    section, _, _ = section.partition("\n## ")
    return re.findall(r"^\*\*([^*\n]*\?)\*\*[^\n]*\n\n```\w+\n(.*?)```\n", section, re.MULTILINE | re.DOTALL)


EXPECTED = [
    [(LARGE, H200, 3000.0), (SMALL, H200, 2000.0), (LARGE, T4, 9000.0)],
    [(SMALL, 2 * 64**3 / 1e12 / 2e-3), (LARGE, RATE / 3e-3)],
    [(128, 128, 2), (64, 64, 1)],
    [(2, 3e-3, 1), (1, 4e-3, 2)],
    [("wrong", "off by one", 2), ("timeout", "over 10 s", 1)],
    [(LARGE, 3.0)],
    [("0000000c", "no end", ""), ("0000000b", "failed", "it fell off the bus")],
    [(LARGE, T4, 9e-3)],
    ["stages       1      2", "block_m              ", "64       0.004    NaN", "128      0.005  0.003"],
    [f"{LARGE} 0.009 1590 70"],
]


@pytest.fixture
def filled(db):
    """Three runs: one that was done, one that failed, one without an end."""
    trials = {
        "0000000a": [
            (H200, LARGE, {"block_m": 64, "block_n": 64, "stages": 1}, 4e-3),
            (H200, LARGE, {"block_m": 128, "block_n": 128, "stages": 1}, 5e-3),
            (H200, LARGE, {"block_m": 128, "block_n": 128, "stages": 2}, 3e-3),
            (H200, SMALL, {"block_m": 64, "block_n": 64, "stages": 1}, 2e-3),
        ],
        "0000000b": [
            (H200, LARGE, {"block_m": 32}, "off by one"),
            (H200, LARGE, {"block_m": 16}, "off by one"),
            (H200, LARGE, {"block_m": 8}, "over 10 s"),
        ],
        "0000000c": [(T4, LARGE, {"block_m": 128, "block_n": 128, "stages": 2}, 9e-3)],
    }
    for minutes, (run, made) in enumerate(trials.items()):
        with db.running(run_record(run, minutes)):
            for place in made:
                db.record(tried(run, *place))
            if run != "0000000c":
                failed = run == "0000000b"
                db.end_run(run, Outcome.FAILED if failed else Outcome.DONE, "it fell off the bus" * failed)
    return db


def tried(run, model, key, fields, result):
    spec = named_device("h200" if model == H200 else "t4")
    m, n, k = map(int, re.findall(r"\d+", key))
    schedule = SGEMM.kernels[0].schedule_type().to_dict() | fields
    failed = isinstance(result, str)
    status = {"off by one": Status.WRONG, "over 10 s": Status.TIMEOUT}.get(result, Status.OK)
    return trial(
        str(fields),
        device=DeviceRecord(model, spec.compute_capability, asdict(spec)),
        problem=ProblemRecord("sgemm", key, SGEMM.problem_type(m, n, k).to_dict()),
        schedule=schedule,
        status=status,
        samples=() if failed else (result,),
        error=result if failed else "",
        program_digest="",
        conditions={"sm_mhz": 1590, "celsius": 70},
        run=run,
    )


def test_every_question_is_answered_as_written(filled, monkeypatch, capsys):
    found = answers()
    assert len(found) == len(EXPECTED) == 10
    monkeypatch.setenv("AUTOTUNE_DB", filled.url.render_as_string(hide_password=False))
    for (question, code), expected in zip(found, EXPECTED, strict=True):
        if code.startswith("SELECT"):
            with filled._engine.connect() as connection:
                rows = [tuple(row) for row in connection.execute(text(code))]
            assert [row[:-1] for row in rows] == [row[:-1] for row in expected], question
            assert [row[-1] for row in rows] == pytest.approx([row[-1] for row in expected]), question
        else:
            exec(compile(code, question, "exec"), {"__name__": "__main__"})
            assert capsys.readouterr().out.splitlines() == expected, question
