"""Tests made of tables: what is refused, and what one line says of it."""

import re
from collections.abc import Mapping

import pytest

from autotune.base.errors import AutotuneError
from autotune.search_spaces.machine.devices import named_device


def refused(call, cases):
    """A test that a call refuses arguments in one line; each case has them and a part of the message, or a pattern.

    Arguments are a mapping of names, a tuple in order, or the only one. A message that begins with `TypeError: ` is
    that of a TypeError; others are of a ValueError or of an error of autotune's.
    """

    @pytest.mark.parametrize(("arguments", "message"), cases)
    def test(arguments, message):
        said = message.removeprefix("TypeError: ")
        with pytest.raises((ValueError, AutotuneError) if said == message else TypeError) as caught:
            if isinstance(arguments, Mapping):
                call(**arguments)
            else:
                call(*arguments if isinstance(arguments, tuple) else (arguments,))
        found = str(caught.value)
        assert "\n" not in found
        assert said in found or re.search(said, found), found

    return test


def illegal(operator, cases, kernel=""):
    """A test that schedules are illegal on an H200: by their problems and their words, a part of the violation.

    Schedules are those of a kernel, or of the one that their words name.
    """

    @pytest.mark.parametrize(
        ("problem", "words", "violation"),
        [(problem, *rule) for problem, rules in cases.items() for rule in rules.items()],
    )
    def test(problem, words, violation):
        named = re.search(r"kernel=(\w+)", words)
        chosen = operator.kernel(named[1] if named else kernel) if named or kernel else operator.kernels[0]
        found = operator.violations(problem, chosen.schedule_type.parse(words.split()), named_device("h200"))
        assert any(violation in line for line in found), found

    return test
