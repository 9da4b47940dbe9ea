"""Whatever a word or a record says, an operator has a schedule and a problem of it, or one line that says why not."""

from dataclasses import MISSING, fields
from enum import StrEnum
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.contract.operator_cases import NAMES, SMALL_PROBLEMS, SPEC
from autotune.search_spaces.contract.registry import operator

EXAMPLES = 50
# Strategies are kept: to make one takes longer than to draw from it.
ODD = (0, -1, 1, 3, 2**31 - 1, 2**31, 2**63, -(2**63), 10**30)
anything = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})


@cache
def members(kind):
    """The fields of a dataclass with values of their types; in half of the cases something is of another type."""
    required = {field.name: values(0) for field in fields(kind) if field.default is MISSING}
    optional = {field.name: values(field.default) for field in fields(kind) if field.default is not MISSING}
    wrong = st.dictionaries(st.sampled_from([*required, *optional, "unknown"]), anything, max_size=1)
    return st.builds(dict.__or__, st.fixed_dictionaries(required, optional=optional), wrong)


def values(default):
    if isinstance(default, StrEnum):
        return st.sampled_from([str(member) for member in type(default)])
    if isinstance(default, bool):
        return st.booleans()
    return st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128]) | st.sampled_from(ODD) | st.integers()


@cache
def words(kind):
    names = st.sampled_from([*(field.name for field in fields(kind)), *kind.short_names()])
    texts = st.text(max_size=5) | st.integers().map(str) | st.sampled_from(["true", "0", "9" * 5000, "٣", "1_0", " 4"])
    return st.lists(st.builds("{}={}".format, names, texts) | st.text(max_size=10), max_size=5)


@cache
def problems(name):
    return st.sampled_from([problem for other, problem in SMALL_PROBLEMS if other == name])


def made(kind, fields):
    """The schedule or problem of some fields; None, with one line that says why, if there is none."""
    try:
        return kind.from_dict(fields)
    except ValueError as error:
        assert "\n" not in str(error)
        return None


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_schedule_from_anywhere_is_none_or_is_judged(name, data):
    chosen = operator(name)
    schedule_type = data.draw(st.sampled_from(chosen.schedule_types))
    schedule = made(schedule_type, data.draw(members(schedule_type)))
    problem = data.draw(problems(name))
    if schedule is not None:
        violations = chosen.violations(problem, schedule, SPEC)
        assert all(violation and "\n" not in violation for violation in violations)
        if not violations:
            assert chosen.program(problem, schedule, SPEC).source


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_problem_from_anywhere_is_none_or_has_a_key(name, data):
    problem_type = operator(name).problem_type
    problem = made(problem_type, data.draw(members(problem_type)))
    if problem is not None:
        assert problem_type.from_dict(problem.to_dict()) == problem
        assert problem.key


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_words_are_a_schedule_or_an_error(name, data):
    schedule_type = data.draw(st.sampled_from(operator(name).schedule_types))
    try:
        schedule = schedule_type.parse(data.draw(words(schedule_type)))
    except ValueError as error:
        assert "\n" not in str(error)
    else:
        assert schedule_type.parse(str(schedule).split()) == schedule
