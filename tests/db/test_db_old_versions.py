"""Databases, exports and recordings of released versions are read, with the names that fields have today.

The files in released/ were written by the version of the commit that their folder is named after.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import MetaData, create_engine, insert, inspect, select

from autotune.db import TuningDB, schema
from autotune.db.comparison import BaselineTimes
from autotune.db.engine import database_url, engine_of
from autotune.db.exchange import from_document, read_document, to_document
from autotune.db.freshness import OTHER_PROGRAM, changed_program
from autotune.db.recording import read_recording
from autotune.devices import recording
from autotune.search_spaces.contract.registry import OPERATORS

FOLDER = Path(__file__).parent / "released" / "a75e4f0"
RECORDINGS = Path(__file__).parents[2] / "benchmarks" / "recordings" / "h200"


@pytest.fixture
def old_url(url, path):
    """A database of revision 0001 with the rows of database.sql."""
    path.parent.mkdir(exist_ok=True)
    source = path.with_name("dump.sqlite3")
    with closing(sqlite3.connect(source)) as connection:
        connection.executescript((FOLDER / "database.sql").read_text())
    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))
    dump, engine = create_engine(f"sqlite:///{source}"), engine_of(database_url(url))
    with dump.connect() as rows, engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        tables = MetaData()
        tables.reflect(connection, only=("devices", "problems", "trials"))
        for table in tables.sorted_tables:
            columns = [column for column in table.columns if column.name != "id" or table.name != "trials"]
            for row in rows.execute(select(*columns)):
                connection.execute(insert(table).values(dict(row._mapping)))
    dump.dispose()
    engine.dispose()
    return url


@pytest.fixture
def exported():
    return from_document(read_document(FOLDER / "export.json"))


def assert_of_today(trial):
    operator = OPERATORS[trial.problem.operator]
    problem = operator.problem_type.from_dict(trial.problem.fields)
    schedule = operator.schedule(trial.schedule)
    assert (trial.problem.key, trial.problem.fields) == (problem.key, problem.to_dict())
    assert (trial.schedule_digest, trial.schedule) == (schedule.digest, schedule.to_dict())
    assert set(trial.environment) == {"device", "uuid", "driver", "cuda", "compiler", "cuda-core", "limits"}
    assert set(trial.conditions) == {"sm_mhz", "memory_mhz", "celsius"}
    assert changed_program(trial) == OTHER_PROGRAM


def test_an_export_has_todays_names(exported):
    assert len(exported) == 4
    for trial in exported:
        assert_of_today(trial)
    (compared,) = (trial for trial in exported if trial.comparison)
    assert compared.problem.operator == "transpose"
    assert compared.comparison == BaselineTimes(compared.seconds, {"copy": compared.seconds * 0.9}, {"cuda": "13.0"})
    (lost,) = (trial for trial in exported if trial.lost_to)
    (winner,) = (trial for trial in exported if trial.schedule_digest == lost.lost_to)
    assert winner.problem == lost.problem


def test_a_database_is_migrated_and_has_todays_names(old_url, exported):
    with TuningDB(old_url) as db:
        stored = db.trials()
        assert sorted(stored, key=repr) == sorted(exported, key=repr)
        lost = next(trial for trial in stored if trial.lost_to)
        best = db.best("sgemm", lost.problem.key, lost.device.model)
        assert best.schedule_digest == lost.lost_to
        assert {(one.operator, one.key) for one in db.problems()} == {
            (t.problem.operator, t.problem.key) for t in stored
        }
        tables = set(inspect(db._engine).get_table_names())
        assert tables == {"alembic_version", "calibrations", "database_info", "devices", "problems", "runs", "trials"}
        db.record(lost)
        assert len(db.trials()) == 4


def test_what_was_renamed_once_stays_as_it_is(exported):
    assert from_document(json.loads(json.dumps(to_document(exported)))) == exported


def test_a_recording_has_todays_names():
    trials = read_recording(FOLDER / "recording.jsonl.gz")
    assert len(trials) == 20
    for trial in trials:
        assert_of_today(trial)


def test_a_recording_that_ships_is_replayed():
    assert recording.load(RECORDINGS / "transpose-4096x8192.jsonl.gz").optimum == pytest.approx(65.28e-6)
