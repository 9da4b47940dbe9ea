import pytest

from autotune.db import TuningDB
from autotune.dispatcher import choose, plan, targets


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch, tmp_path):
    """No plans, no database opened yet, and none but an empty one to open."""
    (tmp_path / "pretuned").mkdir()
    monkeypatch.setenv("AUTOTUNE_PRETUNED", str(tmp_path / "pretuned"))
    monkeypatch.setenv("AUTOTUNE_DB", str(tmp_path / "tuning.sqlite3"))
    monkeypatch.setattr(plan, "_plans", {})
    choose._database.cache_clear()
    yield
    choose._database.cache_clear()


@pytest.fixture
def database():
    """The database that the dispatcher reads."""
    with TuningDB() as database:
        yield database


@pytest.fixture
def unrecorded(monkeypatch):
    """A dispatcher whose database is not asked."""
    monkeypatch.setattr(plan, "recorded", lambda *_: [])


@pytest.fixture
def no_launch(monkeypatch):
    """A dispatcher that may not launch anything."""

    def launched(*_):
        raise AssertionError("launched")

    monkeypatch.setattr(plan, "launch", launched)
    monkeypatch.setattr(targets, "target", launched)
