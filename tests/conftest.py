"""Settings of every test."""

import gc
import os
import re

import pytest
from hypothesis import Phase, settings
from mutants.cache import CACHE, FOLDER
from postgres_server import postgres_server

from autotune.db import TuningDB
from autotune.pytest_plugin import pytest_collection_modifyitems as pytest_collection_modifyitems

# Tests leave the user's database and cache alone; processes that tests start inherit this.
os.environ["AUTOTUNE_DB"] = str(FOLDER / "tuning.sqlite3")
os.environ["AUTOTUNE_CACHE"] = str(FOLDER / CACHE)
# Databases of tests start empty: nothing ships.
os.environ["AUTOTUNE_PRETUNED"] = os.devnull
MAY_BE_MISSING = re.compile("torch|jax")  # in the reason for which a test is skipped

# A busy machine is slow, which is no failure; and a failure must come again when the test is run again.
settings.register_profile("autotune", deadline=None, derandomize=True)
settings.register_profile("mutants", settings.get_profile("autotune"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("autotune")


# The cases of all operators are millions of objects that stay: to search them for garbage takes a sixth of the time.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """In CI, let a skipped test fail unless it needs what CI cannot have."""
    report = yield
    excused = item.get_closest_marker("gpu") or MAY_BE_MISSING.search(str(report.longrepr))
    if "CI" in os.environ and report.skipped and not excused:
        report.outcome = "failed"
    return report


@pytest.fixture(scope="session")
def empty(tmp_path_factory):
    """A database without trials, to be copied: to make its tables takes longer."""
    path = tmp_path_factory.mktemp("empty") / "tuning.sqlite3"
    TuningDB(str(path)).close()
    return path


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of the tests' own."""
    with postgres_server() as server:
        yield server
