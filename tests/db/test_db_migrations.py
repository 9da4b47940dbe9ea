"""The migrations make the tables that the models describe, and bring an older database up to date."""

import re
import shutil

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text
from trial_factory import trial

from autotune.db import DatabaseError, TuningDB, schema
from autotune.db.models import Base


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
