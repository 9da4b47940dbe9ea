"""Commands in this process, on a database and a cache of their own."""

import shutil

import pytest
from cli.cli_command import Outcome
from mutants.cache import cache_with_runtime

from autotune.cli.app import run


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return cache_with_runtime(tmp_path_factory.mktemp("cache") / "own")


@pytest.fixture
def environment(tmp_path, cache, empty, monkeypatch):
    """The path of a database without trials, which commands use."""
    database = tmp_path / "tuning.sqlite3"
    shutil.copy(empty, database)
    monkeypatch.setenv("AUTOTUNE_DB", str(database))
    monkeypatch.setenv("AUTOTUNE_CACHE", str(cache))
    monkeypatch.delenv("AUTOTUNE_DEBUG", raising=False)
    return database


@pytest.fixture
def autotune(environment, capsys):
    """``autotune(*arguments)`` runs one command line."""

    def call(*arguments):
        code = run(list(arguments))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
