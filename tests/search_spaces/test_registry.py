"""The list of operators, which imports none before it is asked for."""

import subprocess
import sys

import pytest

from autotune.search_spaces.registry import OPERATORS, operator


def test_each_operator_is_registered_by_its_name():
    assert {name: OPERATORS[name].name for name in OPERATORS} == {name: name for name in OPERATORS}
    assert len(OPERATORS) == len([*OPERATORS])


def test_an_operator_is_imported_when_it_is_asked_for():
    program = """
import sys
from autotune.search_spaces.registry import operator
operator("transpose")
sys.exit(any("sgemm" in name for name in sys.modules))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_operator_may_be_registered_for_a_while(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setitem(OPERATORS, "another", operator("sgemm"))
        assert "another" in OPERATORS
        assert operator("another") is operator("sgemm")
    with pytest.raises(ValueError, match=r"unknown operator 'another'; known: .*sgemm"):
        operator("another")
