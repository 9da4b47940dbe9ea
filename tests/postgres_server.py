"""A PostgreSQL server in a temporary folder that listens on a socket there, and ends with the tests."""

import os
import secrets
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, make_url, text

USER, PASSWORD = "autotune", "s3cret"


class PostgresServer:
    """A running server: `url` of a database of it, `new_database` for one without tables, `copied` for others."""

    def __init__(self, folder):
        self.folder = folder
        self._copied = {}

    def url(self, database, **changes):
        """For `USER` with its password, unless `changes` say otherwise."""
        query = {"host": str(self.folder)}
        url = URL.create("postgresql+psycopg", USER, PASSWORD, database=database, query=query)
        return url.set(**changes).render_as_string(hide_password=False)

    def new_database(self, options=""):
        """The URL of a new database."""
        name = f"tuning_{secrets.token_hex(8)}"
        self.run("postgres", f"CREATE DATABASE {name} {options}")
        return self.url(name)

    def copied(self, make):
        """The URL of a new database, a copy of what `make` made of one by its URL: to make tables takes longer."""
        if make not in self._copied:
            make(url := self.new_database())
            self._copied[make] = f"TEMPLATE {make_url(url).database}"
        return self.new_database(self._copied[make])

    def run(self, database, statement):
        """Run a statement as the superuser, outside of a transaction."""
        engine = create_engine(self.url(database), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()


@contextmanager
def postgres_server():
    """Start a server; skips the test where PostgreSQL is not installed."""
    programs = _programs()
    # Not pytest's own folder: a socket's path may have 107 characters, and the server's user must get there.
    with tempfile.TemporaryDirectory() as name:
        folder, user = Path(name), None
        if os.geteuid() == 0:  # as whom PostgreSQL refuses to run
            user = "nobody"
            shutil.chown(folder, user)
        password = folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o444)
        data = str(folder / "data")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"

        def run(program, *arguments):
            command = [programs / program, "-D", data, *arguments]
            subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

        run("initdb", "-U", USER, f"--pwfile={password}", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "-N")
        run("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", options)
        try:
            yield PostgresServer(folder)
        finally:
            run("pg_ctl", "stop", "-m", "immediate")


def _programs():
    """The folder of initdb and pg_ctl."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders:
        pytest.skip("needs PostgreSQL's initdb and pg_ctl")
    return folders[-1]
