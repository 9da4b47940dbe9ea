"""The proof's operators are registered for its own tests alone."""

import pytest
from append import OPERATOR as APPEND
from probe import OPERATOR as PROBE
from scale_lists import OPERATOR as SCALE

from autotune.dispatcher.calls import function
from autotune.dispatcher.choice import called
from autotune.search_spaces.contract.registry import OPERATORS


@pytest.fixture(autouse=True)
def operators(monkeypatch):
    for one in (PROBE, APPEND, SCALE):
        monkeypatch.setitem(OPERATORS, one.name, one)
    monkeypatch.setattr(called, "_noted", [])
    yield
    function.clear()
