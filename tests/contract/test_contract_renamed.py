"""Problems and schedules that were stored under the field names of earlier releases."""

from __future__ import annotations

import pytest
from operator_cases import LIMITS, PROBLEMS

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.registry import operator

STORED = [
    stored
    for name, problem in dict(PROBLEMS).items()
    for stored in (problem, operator(name).default(problem, LIMITS))
    if stored.renamed
]


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: type(stored).__name__)
def test_old_names_are_read(stored: Problem | Schedule) -> None:
    kind, values = type(stored), stored.to_dict()
    assert set(kind.renamed.values()) <= set(values)
    old_names = {new: old for old, new in kind.renamed.items()}
    assert kind.from_dict({old_names.get(name, name): value for name, value in values.items()}) == stored
    for old, new in kind.renamed.items():
        with pytest.raises(ValueError, match=f"field '{old}' of {kind.__name__} is called '{new}' now"):
            kind.from_dict(values | {old: values[new]})
