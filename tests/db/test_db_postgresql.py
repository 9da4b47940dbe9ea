"""What only a server can do: refuse, be gone, lock, and serve users of different rights."""

from contextlib import closing

import pytest
from postgres_server import PASSWORD
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from trial_factory import trial

from autotune.db import DatabaseError, TuningDB, engine
from autotune.db.engine import WRITE, database_url, engine_of


@pytest.fixture
def url(postgres):
    return postgres.new_database()


def refused(url):
    """The one line that opening ends with."""
    with pytest.raises(DatabaseError) as caught:
        TuningDB(url)
    message = str(caught.value)
    assert "\n" not in message
    assert "Is the server running" not in message
    assert PASSWORD not in message
    return message


def test_a_wrong_password(postgres):
    message = refused(postgres.url("postgres", password="wr0ng"))
    assert message.startswith("postgresql+psycopg://autotune:***@/postgres?")
    assert message.endswith('failed for user "autotune": correct the user or the password in the URL')
    assert "wr0ng" not in message


def test_no_password(postgres, monkeypatch, tmp_path):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    message = refused(postgres.url("postgres", password=""))
    assert message.endswith("no password supplied: give the password in the URL, in PGPASSWORD or in ~/.pgpass")


def test_no_such_database(postgres):
    message = refused(postgres.url("nosuch"))
    assert message.endswith('database "nosuch" does not exist: make it with createdb, or correct the name in the URL')


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("127.0.0.1:1/name?", 'connection to server at "127.0.0.1", port 1 failed: Connection refused'),
        ("/name?host=127.0.0.1:1&host=127.0.0.1:2&", "Connection refused"),
        ("/name?host=/dev/null&", "failed: "),
        ("/name?hostaddr=nonsense&", "nonsense"),
    ],
)
def test_no_server(place, complaint):
    message = refused(f"postgresql+psycopg://{place}password={PASSWORD}")
    assert complaint in message
    assert message.endswith(": start its server, or correct the host and the port in the URL")


def test_an_option_that_the_driver_does_not_know(postgres):
    assert refused(postgres.url("postgres") + "&nosuch=1").endswith('invalid connection option "nosuch"')


def test_another_programs_database(postgres, url):
    postgres.run(database_url(url).database, "CREATE TABLE bookmarks (url text)")
    assert "another program's tables: use another --db" in refused(url)


def test_a_newer_database(postgres, url):
    TuningDB(url).close()
    postgres.run(database_url(url).database, "UPDATE alembic_version SET version_num = '9999'")
    assert "newer autotune (revision 9999" in refused(url)


@pytest.fixture
def reader(postgres, url):
    """A function that gives the URL for a user who may log in, and read if that is granted."""
    name = database_url(url).database
    postgres.run(name, f"CREATE USER {name}_reader PASSWORD '{PASSWORD}'")

    def allowed(*grants):
        for grant in grants:
            postgres.run(name, f"GRANT {grant} TO {name}_reader")
        return postgres.url(name, username=f"{name}_reader")

    return allowed


@pytest.mark.usefixtures("made_up_trials")
def test_a_user_who_may_only_read_is_answered(url, reader, no_pretuned):
    with TuningDB(url) as db:
        db.record(trial())
    with TuningDB("sqlite://") as shipped:
        shipped.record(trial("shipped later, so it is missing"))
        shipped.write_export(no_pretuned / "new.json")
    with TuningDB(reader("SELECT ON ALL TABLES IN SCHEMA public")) as db:
        assert db.trials() == [trial()]
        with pytest.raises(DatabaseError, match="refuses this to its user: let its owner grant"):
            db.record(trial("b"))


def test_a_user_without_rights(url, reader):
    assert "refuses this to its user: let its owner grant" in refused(reader())
    TuningDB(url).close()
    assert "refuses this to its user" in refused(reader())


def test_a_read_only_server_answers(postgres, url):
    with TuningDB(url) as db:
        db.record(trial())
    name = database_url(url).database
    postgres.run("postgres", f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with TuningDB(url) as db:
        assert db.trials() == [trial()]
        with pytest.raises(DatabaseError, match="is read-only: make it writable"):
            db.record(trial("b"))


@pytest.fixture
def writing(url):
    """A connection that has the write lock of a database whose tables are there."""
    TuningDB(url).close()
    other = engine_of(database_url(url))
    with closing(other.execution_options(**{WRITE: True}).connect()) as connection, connection.begin():
        yield connection
    other.dispose()


def test_a_locked_database(url, writing, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(engine, "BUSY_SECONDS", 0.1)
        db = TuningDB(url)
    with db:
        with pytest.raises(DatabaseError, match="was locked by another process for over 30 s"):
            db.record(trial())
        assert db.trials() == []
        writing.rollback()
        db.record(trial())
        assert db.trials() == [trial()]


def test_a_writer_that_falls_silent_loses_its_transaction_and_the_lock(url, monkeypatch):
    TuningDB(url).close()
    silent = engine_of(database_url(url))
    with monkeypatch.context() as patch, silent.execution_options(**{WRITE: True}).connect() as connection:
        patch.setattr(engine, "BUSY_SECONDS", 0.1)
        connection.execute(text("INSERT INTO database_info VALUES ('silent', 'writer')"))
        patch.undo()
        with TuningDB(url) as db:
            db.record(trial())  # waits for the lock
        with pytest.raises(DBAPIError):
            connection.commit()
    silent.dispose()
    with create_engine(url).connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM database_info WHERE name = 'silent'")) == 0


def test_a_server_that_dropped_its_connections_is_asked_again(postgres, url):
    with TuningDB(url) as db:
        db.record(trial())
        name = database_url(url).database
        postgres.run("postgres", f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        assert db.trials() == [trial()]


def test_a_database_that_knows_no_encoding(postgres):
    with TuningDB(postgres.new_database("TEMPLATE template0 ENCODING 'SQL_ASCII'")) as db:
        db.record(trial(error="ünicode"))
        assert db.trials()[0].error == "ünicode"
