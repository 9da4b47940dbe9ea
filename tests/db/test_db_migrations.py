"""The migrations make the tables that the models describe, and bring an older database up to date."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text
from trial_factory import trial

from autotune.db import DatabaseError, Status, TuningDB, schema
from autotune.db.exchange import from_document, read_document, to_document
from autotune.db.freshness import emitted
from autotune.db.models import Base
from autotune.devices import recording
from autotune.search_spaces.contract.registry import OPERATORS


def statements(engine):
    """The CREATE statements, constraints and all, without those of alembic's own table."""
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT tbl_name, type, name, sql FROM sqlite_master WHERE type <> 'view'"))
        return {row[:3]: row.sql or "" for row in rows if row.tbl_name != "alembic_version"}


def test_the_migrated_schema_is_the_models(db):
    with db._engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_the_migrated_statements_are_the_models():
    # alembic compares no CHECK constraints; the statements have them.
    fresh = create_engine("sqlite://")
    Base.metadata.create_all(fresh)
    with TuningDB("sqlite://") as db:
        migrated, created = statements(db._engine), statements(fresh)
    assert migrated.keys() == created.keys()
    for name, sql in created.items():
        assert normal(migrated[name]) == normal(sql), name


def normal(sql):
    """The words of a statement. A foreign key may stand at its column; alembic compares what it refers to."""
    return sorted(re.sub(r"FOREIGN KEY ?\(\w+\)|[,()]", " ", sql).split())


def test_file_names_and_revisions_agree():
    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert [script.revision for script in scripts.walk_revisions()][::-1] == schema.revisions()


LAST = schema.revisions()[-1]
AFTER = f"{int(LAST) + 1:04}"

NEXT = """
import sqlalchemy as sa
from alembic import op
revision, down_revision = "{next}", "{last}"
def upgrade():
    op.create_table("more", sa.Column("id", sa.Integer(), primary_key=True))
    {then}
"""


@pytest.fixture
def next_version(tmp_path, monkeypatch):
    """A function that makes this a version with one more migration, which ends with a statement."""

    def install(then):
        folder = tmp_path / "100% migrations"
        shutil.copytree(schema.MIGRATIONS, folder)
        (folder / "versions" / f"{AFTER}_more.py").write_text(NEXT.format(next=AFTER, last=LAST, then=then))
        monkeypatch.setattr(schema, "MIGRATIONS", folder)

    return install


def test_an_older_database_is_migrated_and_keeps_its_trials(url, next_version):
    with TuningDB(url) as db:
        db.record(trial())
    next_version("pass")
    with TuningDB(url) as db:
        assert db.trials() == [trial()]
        with db._read() as session:
            assert session.scalar(text("SELECT version_num FROM alembic_version")) == AFTER


def test_a_migration_that_fails_changes_nothing(url, next_version):
    with TuningDB(url) as db:
        db.record(trial())
        next_version("op.execute('no SQL')")
        with pytest.raises(DatabaseError, match="syntax error"):
            TuningDB(url)
        with db._engine.connect() as connection:
            assert connection.scalars(text("SELECT version_num FROM alembic_version")).all() == [LAST]
            assert not inspect(connection).has_table("more")


FOLDER = Path(__file__).parent / "released"
RECORDINGS = Path(__file__).parents[2] / "benchmarks" / "recordings" / "h200"


@pytest.fixture(scope="module")
def exported():
    return from_document(read_document(FOLDER / "export.json"))


def test_an_export_has_todays_names(exported):
    assert {one.problem.operator for one in exported} == {"gemm", "gemv", "scan", "sgemm", "transpose"}
    for stored in exported:
        operator = OPERATORS[stored.problem.operator]
        problem = operator.problem_type.from_dict(stored.problem.fields)
        schedule = operator.schedule(stored.schedule)
        assert (stored.problem.key, stored.problem.fields) == (problem.key, problem.to_dict())
        assert (stored.schedule_digest, stored.schedule) == (schedule.digest, schedule.to_dict())
        assert emitted(stored).name == operator.name
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
