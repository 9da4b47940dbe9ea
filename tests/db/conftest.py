import shutil

import pytest

from autotune.db import TuningDB


@pytest.fixture(autouse=True)
def no_pretuned(tmp_path, monkeypatch):
    """An empty folder in place of the shipped records."""
    folder = tmp_path / "pretuned"
    folder.mkdir()
    monkeypatch.setenv("AUTOTUNE_PRETUNED", str(folder))
    return folder


@pytest.fixture
def made_up_trials(monkeypatch):
    """Trials that no operator can read are merged, too."""
    monkeypatch.setattr("autotune.db.stored_trials.check_foreign", lambda trials, known: None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "tuning.sqlite3"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, path):
    """Where no database is yet, or an empty one."""
    return str(path) if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request, path, empty):
    """A database without trials."""
    if request.param == "sqlite":
        path.parent.mkdir()
        url = str(shutil.copy(empty, path))
    else:
        url = request.getfixturevalue("postgres").copied(made)
    with TuningDB(url) as database:
        yield database


def made(url):
    TuningDB(url).close()
