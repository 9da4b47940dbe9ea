"""The list of operators, which imports none before it is asked for."""

import subprocess
import sys
from dataclasses import replace

import pytest
from refusals import refused

from autotune.search_spaces.contract.registry import OPERATORS, _Operators, operator
from autotune.search_spaces.machine.devices import named_device


def test_each_operator_is_registered_by_its_name():
    assert {name: OPERATORS[name].name for name in OPERATORS} == {name: name for name in OPERATORS}
    assert len(OPERATORS) == len([*OPERATORS])


def test_an_operator_is_imported_when_it_is_asked_for():
    program = """
import sys
from autotune.search_spaces.contract.registry import operator
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


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".matmul.nowhere", "there is no module autotune.search_spaces.matmul.nowhere"),
        (".nowhere.sgemm", "there is no module autotune.search_spaces.nowhere"),
        (".matmul", "expected autotune.search_spaces.matmul.OPERATOR, an Operator"),
    ],
)
def test_a_wrong_path_in_the_registry_is_named(path, message):
    with pytest.raises(ValueError, match=f"operator 'another' is registered as '{path}': {message}"):
        _Operators({"another": path})["another"]


def test_a_missing_package_is_not_taken_for_a_wrong_path(tmp_path, monkeypatch):
    (tmp_path / "needs_more.py").write_text("import nowhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="'nowhere'"):
        _Operators({"another": "needs_more"})["another"]


test_what_is_no_name_is_no_operator = refused(
    operator,
    [
        (3, "unknown operator 3; known: "),
        ([], "unknown operator []; known: "),
        ("sgem", "unknown operator 'sgem'; did you mean sgemm? known: "),
    ],
)


def test_pointers_are_named_as_tensors():
    transpose = operator("transpose")
    problem, spec = transpose.problem_type(8, 8), named_device("h200")

    def emit(problem, schedule):
        program = transpose.emit(problem, schedule)
        renamed = [
            replace(argument, name={"a": "x"}.get(argument.name, argument.name)) for argument in program.arguments
        ]
        return replace(program, arguments=tuple(renamed))

    with pytest.raises(ValueError, match="the kernel of transpose takes b, x, and its problem has the tensors a, b"):
        transpose.with_kernels(emit=emit).program(problem, transpose.default(problem, spec), spec)
