import shutil

import pytest
from tuner_fakes import FakePool, ToyDevice

from autotune.db import TuningDB
from autotune.tuner import ahead, loop


@pytest.fixture
def pools(monkeypatch):
    """Put `FakePool` in the place of the real one; the list of those made."""
    made = []
    monkeypatch.setattr(FakePool, "made", made)
    monkeypatch.setattr(loop, "CompilePool", FakePool)
    monkeypatch.setattr(ahead, "_FIRST", 60.0)  # a busy machine may take seconds to propose the first candidate
    return made


@pytest.fixture
def db(tmp_path, empty):
    with TuningDB(str(shutil.copy(empty, tmp_path))) as database:
        yield database


@pytest.fixture
def device(pools):
    return ToyDevice()
