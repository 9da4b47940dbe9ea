"""Files that the command lines of fuzz.py refer to: right ones, wrong ones, and ones with something in them changed."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from autotune.cli.app import run
from autotune.db import DeviceRecord, Outcome, ProblemRecord, RunRecord, Status, TimeSource, Trial, TuningDB
from autotune.db.exchange import to_document
from autotune.db.recording import write_recording
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.contract.restriction import sample
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
RUN = "0123abcd"


class Files:
    """What command lines refer to, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = self._database("tuning.sqlite3")
        self.other = self._database("other.sqlite3")
        self.export = folder / "export.json"
        self.export.write_text(json.dumps(to_document(trials("transpose", 64, 5))))
        self.recording = folder / "recording.jsonl.gz"
        write_recording(self.recording, trials("transpose", 4096, 20))
        self.suite = folder / "suite.json"
        self.suite.write_text('[{"m": 64}, {"m": 65, "group": "odd"}]')
        self.lock = folder / "lock.json"
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            run(["lock", f"--suite=transpose={self.suite}", "--device=h200", f"--output={self.lock}"])
        self.text = folder / "text.txt"
        self.text.write_text("no database, no recording, no report\n" * 50)
        (folder / "folder").mkdir()
        self.missing = folder / "no" / "such"
        self.wrong = [self.missing, folder / "folder", self.text, Path("/dev/null"), Path()]

    def _database(self, name: str) -> Path:
        tuned = RunRecord("autotune tune sgemm", "sgemm", {}, "bayes", 0, [], RUN)
        with TuningDB(str(self.folder / name)) as db, db.running(tuned):
            for trial in trials("transpose", 64, 4):
                db.record(trial)
            for trial in trials("sgemm", 64, 4):
                db.record(replace(trial, run=RUN))
            db.end_run(RUN, Outcome.DONE)
        return self.folder / name


def trials(name: str, size: int, count: int) -> list[Trial]:
    """Trials of a square problem, as measured on an H200."""
    operator = OPERATORS[name]
    problem = operator.problem_type.from_dict(dict.fromkeys(("m", "n", "k")[: 3 if name == "sgemm" else 2], size))
    device = DeviceRecord.of(H200)
    stated = ProblemRecord.of(name, problem)
    listed = sample(operator, problem, H200, operator.space(problem, H200), count, seed=0)
    return [
        Trial(device, stated, s.to_dict(), s.digest, Status.OK, TimeSource.MEASURED, (1e-3 * (1 + number),))
        for number, s in enumerate(listed)
    ]


def changed(document: Any, random: Random) -> None:
    """Put something else in a place of a document."""
    inner, step = document, None
    while isinstance(inner, dict | list) and inner and (step is None or random.random() < 0.85):
        outer, step = inner, random.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        inner = outer[step]
    if step is not None:
        outer[step] = random.choice(
            [
                None,
                True,
                -1,
                0,
                1e-12,
                1e300,
                2**70,
                "",
                "x",
                "\x1b[2J",
                [],
                {},
                [[]],
                {"x": 1},
                "2999-01-01T00:00:00+00:00",
            ]
        )
