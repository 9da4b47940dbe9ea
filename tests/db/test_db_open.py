"""Where a database is, how it is opened, and what is said where that cannot be."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError
from trial_factory import trial

from autotune.db import DatabaseError, TuningDB, engine, schema, substitute
from autotune.db.errors import one_line_errors
from autotune.db.substitute import to_read


def refuses(path, *words):
    """Opening (or reading) must fail with one line that has the path and `words`, and change nothing."""
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(DatabaseError) as caught, TuningDB(str(path)) as db:
        db.trials()
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    for word in words:
        assert word in message
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


@pytest.fixture
def filled(path):
    """A closed database of many pages."""
    with TuningDB(str(path)) as db:
        for i in range(20):
            db.record(trial(f"{i}", error="x" * 2000))
    return path


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_an_argument_is_a_path_or_a_url(path, form):
    with TuningDB(form.format(path)) as db:
        db.record(trial())
        assert db.location == str(path)
    assert path.exists()


def test_an_argument_may_be_a_path_object_and_nothing_else(path):
    with TuningDB(path) as db:
        assert db.location == str(path)
    with pytest.raises(TypeError, match="a database is named by a int: expected a path or a URL"):
        TuningDB(3)


def test_only_a_trial_is_recorded(path):
    with TuningDB(path) as db, pytest.raises(TypeError, match="record takes a Trial, not a NoneType"):
        db.record(None)


def test_the_default_is_the_environment_variable_then_the_users_data_folder(path, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("AUTOTUNE_DB", str(path))
    with TuningDB() as db:
        assert db.location == str(path)
    monkeypatch.setenv("AUTOTUNE_DB", "")
    with TuningDB() as db:
        assert Path(db.location) == tmp_path / "data" / "autotune" / "tuning.sqlite3"


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_is_one_for_all_threads(url):
    with TuningDB(url) as db, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda i: db.record(trial(f"{i}")), range(20)))
        assert len(db.trials()) == 20


def test_sqlite_is_set_up_for_many_processes(path):
    with TuningDB(str(path)) as db, closing(db._engine.raw_connection()) as connection:
        pragmas = {name: connection.cursor().execute(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS}
    assert pragmas == PRAGMAS


PRAGMAS = {"journal_mode": "wal", "busy_timeout": 30_000, "foreign_keys": 1}


def test_importing_the_states_is_cheap_and_opening_an_existing_database_imports_no_alembic(path):
    TuningDB(str(path)).close()
    script = (
        "import sys, autotune.db.states\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        "from autotune.db import TuningDB\n"
        "TuningDB(sys.argv[1]).trials()\n"
        "assert 'alembic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)


def test_a_file_that_is_no_database(path):
    path.parent.mkdir()
    path.write_text("not a database, " * 100)
    refuses(path, "is not a SQLite database", "move it away or restore it")


@pytest.mark.parametrize("remaining", [0.3, 0.6, 0.95])
def test_a_truncated_database(filled, remaining):
    os.truncate(filled, int(filled.stat().st_size * remaining))
    refuses(filled, "is malformed", "move it away or restore it")


def test_a_damaged_page(filled):
    damaged = bytearray(filled.read_bytes())
    with closing(sqlite3.connect(filled)) as connection:
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'trials'").fetchone()
    damaged[(root - 1) * page_size : root * page_size] = b"\xff" * page_size
    filled.write_bytes(damaged)
    refuses(filled, "is malformed")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("schedule", "[" * 100_000),
        ("schedule", b"\0" * 10),
        ("status", "{}"),
        ("samples", "[]"),
        ("resources", "[NaN]"),
        ("created_at", 0),
        ("resources", f'{{"registers": {"9" * 400}}}'),
    ],
)
def test_a_value_that_autotune_never_writes(filled, column, value):
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE trials SET {column} = ?", (value,))
    refuses(filled, "holds what cannot be read", "restore it")


def test_a_value_of_a_wrong_kind_is_named_with_its_row(filled):
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("UPDATE trials SET schedule = '[1]'")
    refuses(filled, ": schedule=[1]: expected an object of JSON values", "(trial ", "restore it")


@pytest.mark.parametrize(("column", "value"), [("schedule", "null"), ("environment", "[]"), ("seconds", "soon")])
def test_a_value_that_a_run_would_go_on_from(filled, column, value):
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute(f"UPDATE trials SET {column} = ?", (value,))
    one = trial()
    place = (one.problem.operator, one.problem.key, one.device.model, one.compiler, one.time_source)
    with TuningDB(str(filled)) as db, pytest.raises(DatabaseError, match="holds what cannot be read"):
        list(db.tried(*place))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW v AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i FROM r) SELECT * FROM r",
        "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END",
    ],
)
def test_a_database_that_brings_code(filled, statement):
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute(statement)
    refuses(filled, f"has a {statement.split()[1].lower()}", "nothing was changed")


def test_a_newer_database(filled):
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    known = f"newer autotune (revision 9999; this one knows up to {schema.revisions()[-1]})"
    refuses(filled, known, "upgrade autotune or use another --db")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("DROP TABLE trials", ["lacks the table trials: restore it, or move it away"]),
        ("ALTER TABLE trials DROP COLUMN conditions", ["lacks a table or a column", "restore it, or move it away"]),
        ("UPDATE alembic_version SET version_num = 'ae1027a6acf'", ["another program's tables: use another --db"]),
        ("DELETE FROM alembic_version", ["another program's tables: use another --db"]),
    ],
)
def test_a_database_that_was_changed(filled, damage, words):
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute(damage)
    refuses(filled, *words)


def test_another_programs_database(path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    refuses(path, "another program's tables", "use another --db")


def test_a_folder_in_the_place_of_the_file(path):
    path.mkdir(parents=True)
    with pytest.raises(DatabaseError, match=f"^{path} is no file"):
        TuningDB(str(path))


def test_a_file_in_the_place_of_the_folder(path):
    path.parent.write_text("")
    with pytest.raises(DatabaseError, match=f"^{path.parent}: {os.strerror(errno.EEXIST)}"):
        TuningDB(str(path))


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("nosuch://host/name", "nosuch.*use sqlite:/// or postgresql"),
        ("sqlite+nosuch:///x", "nosuch.*use sqlite:///"),
        ("://", "not a database URL"),
        ("postgresql://host:port/name", "not a database URL"),
        ("postgresql://user:pass@secret@host/name", "%40 for an @"),
        ("postgresql://user:pass@se:secret@host/name", "%40 for an @"),
        ("postgresql+nosuch://user:secret@host/name", "nosuch.*use sqlite:///"),
        ("mysql://host/name?password=secret", "mysql: no known kind of database"),
    ],
)
def test_a_wrong_url(url, complaint):
    with pytest.raises(DatabaseError, match=complaint) as caught:
        TuningDB(url)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_driver(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DatabaseError, match=r"psycopg.*pip install 'autotune\[postgres\]'"):
        TuningDB("postgresql+psycopg://host/name")


def test_a_locked_database(path, monkeypatch):
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0)
    with TuningDB(str(path)) as db, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseError, match="was locked by another process for over 30 s"):
            db.record(trial())
        assert db.trials() == []
        other.execute("ROLLBACK")
        db.record(trial())
        assert len(db.trials()) == 1


def test_a_writer_waits_for_a_lock(path):
    with TuningDB(str(path)) as db, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(db.record, trial())
            assert db.trials() == []
            other.execute("ROLLBACK")
            waiting.result()
        assert db.trials() == [trial()]


def test_sqlites_extended_codes_are_known_by_their_primary_one():
    busy = sqlite3.OperationalError("locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
    with pytest.raises(DatabaseError, match=r"^here was locked"), one_line_errors("here"):
        raise OperationalError("SELECT", {}, busy)


@contextmanager
def little_room(folder, pages):
    """Databases in a folder have so many pages at most."""

    def limit(connection, _record):
        (_, _, file), *_ = connection.execute("PRAGMA database_list")
        if folder in Path(file).parents:
            connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(Engine, "connect", limit)
    try:
        yield
    finally:
        event.remove(Engine, "connect", limit)


def test_a_full_disk_loses_nothing_that_was_stored(path):
    with little_room(path.parent, 96), TuningDB(str(path)) as db:
        stored = 0
        with pytest.raises(DatabaseError, match="does not fit on its disk"):
            while True:
                db.record(trial(f"{stored}", error="x" * 3000))
                stored += 1
        assert stored > 0
        assert len(db.trials()) == stored
    with TuningDB(str(path)) as db:
        db.record(trial("after"))
        assert len(db.trials()) == stored + 1


def _ship(folder, *trials):
    with TuningDB("sqlite://") as db:
        for one in trials:
            db.record(one)
        db.write_export(folder / "new.json")


@pytest.mark.usefixtures("made_up_trials")
def test_a_full_disk_goes_without_trials_that_ship(path, no_pretuned):
    with TuningDB(str(path)) as db:
        db.record(trial())
    _ship(no_pretuned, *(trial(f"{i}", error="x" * 3000) for i in range(99)))
    with little_room(path.parent, 96), TuningDB(str(path)) as db:
        with pytest.warns(RuntimeWarning, match="free some space; .* trials that ship are missing") as caught:
            assert [db.trials(), db.trials()] == [[trial()]] * 2
        assert len(caught) == 1
    with TuningDB(str(path)) as db:
        assert len(db.trials()) == 100


@pytest.mark.usefixtures("made_up_trials")
def test_what_ships_is_read_where_the_users_own_file_cannot_be_made(tmp_path, no_pretuned, monkeypatch):
    monkeypatch.delenv("AUTOTUNE_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(substitute, "temporary_root", lambda: tmp_path / "temporary")
    _ship(no_pretuned, trial())
    with little_room(tmp_path / "data", 1):
        for _ in range(2):  # an empty file is left
            with (
                pytest.warns(RuntimeWarning, match="free some space; .*; a temporary database with what ships"),
                to_read(None) as db,
            ):
                assert db.trials() == [trial()]
        with pytest.raises(DatabaseError, match="does not fit"):
            to_read(str(tmp_path / "data" / "named"), create=True)


@contextmanager
def read_only(path, folder_mode):
    """Nobody may write to the database; not even root, who steps down for as long as this lasts."""
    is_root = os.geteuid() == 0
    path.chmod(0o444)
    path.parent.chmod(folder_mode)
    if is_root:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        if is_root:
            os.setresuid(0, 0, 0)
        path.parent.chmod(0o755)


@pytest.fixture
def shared(monkeypatch):
    """A path that every user can reach, and so the shipped records and the migrations, which a clone may hide."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setattr(schema, "MIGRATIONS", shutil.copytree(schema.MIGRATIONS, Path(folder) / "migrations"))
        shipped = Path(folder) / "pretuned"
        shipped.mkdir()
        monkeypatch.setenv("AUTOTUNE_PRETUNED", str(shipped))
        yield Path(folder) / "tuning.sqlite3"


@pytest.mark.usefixtures("made_up_trials")
@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_a_read_only_database_answers_and_refuses_writes(shared, folder_mode):
    with TuningDB(str(shared)) as db:
        db.record(trial())
    _ship(shared.parent / "pretuned", trial("shipped later, so it is missing"))
    with TuningDB("sqlite://") as db:
        db.trials()  # imports the operators, which a clone may hide from others
    with read_only(shared, folder_mode), TuningDB(str(shared)) as db:
        assert len(db.trials()) == 1
        with pytest.raises(DatabaseError, match=r"is read-only: make it writable"):
            db.record(trial("b"))


def test_a_database_with_a_log_is_not_read_without_it(path, monkeypatch):
    TuningDB(str(path)).close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    url = engine.database_url(path)
    assert engine.engine_of(url).url.query["immutable"] == "1"
    path.with_name(f"{path.name}-wal").touch()
    assert not engine.engine_of(url).url.query


def test_a_folder_that_may_not_be_written_to(shared):
    shared.touch()
    with read_only(shared, 0o555), pytest.raises(DatabaseError, match="cannot be opened"):
        TuningDB(str(shared.with_name("new.sqlite3")))
