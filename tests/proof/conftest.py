"""The proof's operator is registered for its own tests alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from probe_operator import OPERATOR

from autotune.dispatcher.calls import function
from autotune.dispatcher.choice import untuned
from autotune.search_spaces.contract.registry import OPERATORS


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(OPERATORS, OPERATOR.name, OPERATOR)
    monkeypatch.setattr(untuned, "_noted", [])
    yield
    function.clear()
