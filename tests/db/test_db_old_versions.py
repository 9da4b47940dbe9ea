"""What earlier versions wrote is read, with the names that fields have today.

In released/ there are a dump (`sqlite3 FILE .dump`, without views) of a database of each earlier revision, and an
export, with the same trials.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from autotune.db import Status, TuningDB, schema
from autotune.db.exchange import from_document, read_document, to_document
from autotune.db.freshness import emitted
from autotune.db.models import Base
from autotune.devices import recording
from autotune.search_spaces.contract.registry import OPERATORS

FOLDER = Path(__file__).parent / "released"
RECORDINGS = Path(__file__).parents[2] / "benchmarks" / "recordings" / "h200"


@pytest.fixture(scope="module")
def exported():
    return from_document(read_document(FOLDER / "export.json"))


def test_an_export_has_todays_names(exported):
    assert {one.problem.operator for one in exported} == {"gemm", "gemv", "scan", "sgemm", "transpose"}
    for trial in exported:
        operator = OPERATORS[trial.problem.operator]
        problem = operator.problem_type.from_dict(trial.problem.fields)
        schedule = operator.schedule(trial.schedule)
        assert (trial.problem.key, trial.problem.fields) == (problem.key, problem.to_dict())
        assert (trial.schedule_digest, trial.schedule) == (schedule.digest, schedule.to_dict())
        assert emitted(trial).name == operator.name
    assert from_document(json.loads(json.dumps(to_document(exported)))) == exported


def test_every_earlier_schema_has_a_dump():
    assert sorted(path.stem for path in FOLDER.glob("*.sql")) == schema.revisions()[:-1]


def test_studies_beside_a_database_are_said_to_be_out_of_use_once(path):
    path.with_name(f"{path.name}.studies").mkdir(parents=True)
    path.with_name(f"{path.name}.studies").joinpath("s.journal").touch()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FOLDER / "0005.sql").read_text())
    with pytest.warns(RuntimeWarning, match=r"studies is not used any more: the database has all trials that ended"):
        TuningDB(str(path)).close()
    TuningDB(str(path)).close()


@pytest.mark.parametrize("revision", schema.revisions()[:-1])
def test_a_database_is_migrated_and_has_todays_names(path, exported, revision):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FOLDER / f"{revision}.sql").read_text())
    (lost,) = (trial for trial in exported if trial.lost_to)
    with TuningDB(str(path)) as db:
        assert sorted(db.trials(), key=repr) == sorted(exported, key=repr)
        assert db.best("sgemm", lost.problem.key, lost.device.model).schedule_digest == lost.lost_to
        assert [one.error for one in db.trials(status=Status.WRONG)] == ["it's ünicode"]
        db.record(lost)
        assert len(db.trials()) == len(exported)
        with db._engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_server_default": True})
            assert compare_metadata(context, Base.metadata) == []


def test_a_recording_that_ships_is_replayed():
    assert recording.load(RECORDINGS / "transpose-4096x8192.jsonl.gz").optimum == pytest.approx(65.28e-6)
