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
def path(tmp_path):
    return tmp_path / "folder" / "tuning.sqlite3"


@pytest.fixture
def db(path):
    with TuningDB(str(path)) as database:
        yield database
