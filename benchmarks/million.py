"""What a database of a million trials costs: its size, and the seconds of what is asked of it.

    python benchmarks/million.py DATABASE [TRIALS]

The database, a file or the URL of one on PostgreSQL, is filled unless it has trials. Each problem has a thousand trials
of one device model: two are real, the others are copies with other digests and times. Each question is asked in a
process of its own, twice: the first finds no page of the database in the process, the second is the median of five.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from fakes import Device
from sqlalchemy import text
from sqlalchemy.orm import Session

from autotune.compiler import compiler_version
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial, TuningDB
from autotune.db.models import StudyRow, TrialRow
from autotune.db.storing import problem_id, row_id
from autotune.runs.provenance import study_name
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device

SGEMM, SPEC = operator("sgemm"), named_device("h200")
DEVICE = Device("h200")
DEVICE.time_source = TimeSource.MEASURED
EACH = 1000  # trials of a problem
QUESTIONS = {
    "open": "None",
    "best of one problem": "db.best('sgemm', KEY, SPEC.name, compiler_version())",
    "db best": "db.bests('sgemm', SPEC.name, compiler_version())",
    "the dispatcher's first call": "db.serving('sgemm', SPEC.name, compiler_version())",
    "a tuner's start": "History(SGEMM, PROBLEM, DEVICE, db).first_candidates()",
    "what a tuner goes on from": "History(SGEMM, PROBLEM, DEVICE, db).tried()",
    "the newest 20 trials": "db.trials('sgemm', limit=20)",
    "runs": "db.runs(20)",
    "one trial more": "db.record(replace(db.best('sgemm', KEY, SPEC.name), samples=(1.0,), program_digest='new'))",
}
ASK = """
import sys, time
from dataclasses import replace
sys.path.insert(0, {folder!r})
from million import *
from autotune.runs.history import History
PROBLEM = problem(1)
KEY = PROBLEM.key
times = []
for _ in range({times}):
    begun = time.perf_counter()
    with TuningDB({url!r}) as db:
        {question}
    times.append(time.perf_counter() - begun)
print(times)
"""


def problem(number: int) -> Any:
    """One of many problems."""
    return SGEMM.problem_type(64 * (1 + number % 40), 64 * (1 + number // 40), 1024)


def fill(db: TuningDB, trials: int) -> None:
    """Store so many trials."""
    postgresql = db._engine.dialect.name == "postgresql"
    digest, json = ("lpad(to_hex(i), 16, '0')", "({})::json") if postgresql else ("printf('%016x', i)", "{}")
    # A slower trial; one of ten failed, and every second one is shape-generic.
    own = {
        "schedule_digest": digest,
        "program_digest": f"{digest} || substr(program_digest, 17)",
        "status": "CASE WHEN i % 10 = 0 THEN 'wrong' ELSE 'ok' END",
        "schedule": json.format(f"CASE WHEN i % 2 = 0 THEN {_specialized('none')} ELSE {_specialized('shape')} END"),
        "seconds": "seconds * (1.01 + 0.001 * i)",
        "study_id": ":study",
        "number": "i",
    }
    columns = [column.name for column in TrialRow.__table__.c if column.name != "id"]
    copy = text(
        f"WITH RECURSIVE numbers(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM numbers WHERE i < {EACH - 1}) "
        f"INSERT INTO trials ({', '.join(columns)}) SELECT {', '.join(own.get(name, name) for name in columns)} "
        "FROM trials, numbers WHERE id = (SELECT max(id) FROM trials)"
    )
    for number in range(trials // EACH):
        of = problem(number)
        generic = SGEMM.default(of, SPEC)
        special = SGEMM.schedule(generic.to_dict() | {"specialize": "shape"})
        fastest, second = (special, generic) if number % 2 else (generic, special)
        db.record(_real(of, second, 1.005e-5 * (1 + number)))
        db.record(_real(of, fastest, 1e-5 * (1 + number)))
        with Session(db._engine) as session, session.begin():
            at = {"problem_id": problem_id(ProblemRecord.of("sgemm", of), session), "device_id": 1}
            at["name"] = study_name(SGEMM, of, DEVICE)
            session.execute(copy, {"study": row_id(StudyRow(**at), session, **at)})
    if postgresql:
        with db._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))


def _specialized(value: str) -> str:
    other = {"none": "shape", "shape": "none"}[value]
    return f"""replace(CAST(schedule AS TEXT), '"specialize":"{other}"', '"specialize":"{value}"')"""


def _real(of: Any, schedule: Any, seconds: float) -> Trial:
    """A trial whose program is today's."""
    return Trial(
        DeviceRecord.of(SPEC),
        ProblemRecord.of("sgemm", of),
        schedule.to_dict(),
        schedule.digest,
        Status.OK,
        TimeSource.MEASURED,
        tuple(round(seconds * (1 + 0.001 * sample), 9) for sample in range(100)),
        resources={"registers": 128, "spill_load_bytes": 0, "spill_store_bytes": 0, "shared_bytes": 32768},
        environment={"driver": "580.95.05", "limits": SPEC.digest, "uuid": "GPU-" + "0" * 32, "cuda": "13.0"},
        conditions={"sm_mhz": 1980, "memory_mhz": 3201, "celsius": 41, "clock_event_reasons": []},
        compiler=compiler_version(),
        program_digest=SGEMM.program(of, schedule, SPEC).digest,
    )


def main(url: str, trials: str = "1000000") -> None:
    """Fill, and ask."""
    os.environ["AUTOTUNE_PRETUNED"] = os.devnull
    with TuningDB(url) as db:
        if not db.trials(limit=1):
            begun = time.perf_counter()
            fill(db, int(trials))
            print(f"filled in {time.perf_counter() - begun:.0f} s")
        with db._engine.connect() as connection:
            count = connection.scalar(text("SELECT count(*) FROM trials"))
            size = (
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
                if db._engine.dialect.name == "sqlite"
                else "SELECT pg_database_size(current_database())"
            )
            print(
                f"{count} trials of {count // EACH} problems, {connection.scalar(text(size)) / 1e6:.0f} MB", flush=True
            )
    folder = str(Path(__file__).resolve().parent)
    for name, question in QUESTIONS.items():
        script = ASK.format(folder=folder, url=url, question=question, times=6)
        first, *others = json.loads(
            subprocess.run([sys.executable, "-c", script], check=True, text=True, stdout=-1).stdout
        )
        print(f"{name:32} {first:8.3f} s  {median(others):8.3f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
