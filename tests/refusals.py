"""Tests made of tables: what is refused, and what one line says of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.devices import named_device

Test = Callable[..., None]


def refused(call: Callable[..., Any], cases: Sequence[tuple[Mapping[str, Any], str]]) -> Test:
    """A test that a call refuses some arguments; each case has them and a part of the message, or a pattern."""

    @pytest.mark.parametrize(("arguments", "message"), cases)
    def test(arguments: Mapping[str, Any], message: str) -> None:
        with pytest.raises((TypeError, ValueError)) as caught:
            call(**arguments)
        said = str(caught.value)
        assert "\n" not in said
        assert message in said or re.search(message, said), said

    return test


def illegal(operator: Operator[Any, Any], cases: Mapping[Any, Mapping[str, str]], kernel: str = "") -> Test:
    """A test that schedules are illegal on an H200: by their problems and their words, a part of the violation.

    Schedules are those of a kernel, or of the one that their words name.
    """

    @pytest.mark.parametrize(
        ("problem", "words", "violation"),
        [(problem, *rule) for problem, rules in cases.items() for rule in rules.items()],
    )
    def test(problem: Problem, words: str, violation: str) -> None:
        named = re.search(r"kernel=(\w+)", words)
        chosen = operator.kernel(named[1] if named else kernel) if named or kernel else operator.kernels[0]
        found = operator.violations(problem, chosen.schedule_type.parse(words.split()), named_device("h200"))
        assert any(violation in line for line in found), found

    return test
