"""Problems and schedules that were stored under the field names of earlier releases."""

import pytest
from operator_cases import PROBLEMS, SPEC, cases_of

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.registry import OPERATORS, operator

STORED = [
    stored
    for name, problem in dict(PROBLEMS).items()
    for stored in (problem, operator(name).default(problem, SPEC))
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


@pytest.mark.parametrize("name", [name for name in OPERATORS if operator(name).kernel_field])
def test_schedules_of_one_type_for_all_kernels_still_open(name: str) -> None:
    chosen = operator(name)
    problem = cases_of(name).SMALL_PROBLEMS[0]
    others = {field: value for kind in chosen.schedule_types for field, value in kind().to_dict().items()}
    for kernel in chosen.kernels:
        schedule = chosen.first(kernel.name, problem, SPEC)
        stored = {field: value for field, value in {**others, **schedule.to_dict()}.items() if field != "kernel"}
        assert chosen.schedule({**stored, chosen.kernel_field: kernel.name}) == schedule
        assert chosen.parse([f"{chosen.kernel_field}={kernel.name}"], problem, SPEC) == schedule
    with pytest.raises(ValueError, match=r"unknown kernel 'none'.*known: "):
        chosen.schedule({**others, "kernel": "none"})
