"""A home in which nothing can be written."""

import stat

import numpy as np
import pytest

from autotune import dispatcher
from autotune.base.cache import cache_folder


@pytest.fixture
def no_home(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("AUTOTUNE_DB", str(file / "tuning.sqlite3"))
    monkeypatch.setenv("AUTOTUNE_CACHE", str(file / "cache"))


@pytest.mark.usefixtures("no_home")
def test_the_default_serves_with_one_warning():
    with pytest.warns(RuntimeWarning) as caught:
        result = dispatcher.sgemm(np.ones((1, 5), np.float32), np.ones((5, 1), np.float32))
        np.testing.assert_array_equal(result, [[5]])
    assert len(caught) == 1


@pytest.mark.usefixtures("no_home")
def test_a_temporary_cache_is_the_process_own():
    folder = cache_folder("cubins")
    assert folder == cache_folder("cubins")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
