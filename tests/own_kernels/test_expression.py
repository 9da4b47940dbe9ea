"""Texts compute numbers of names, and can do nothing else."""

import pytest

from autotune.own_kernels.expression import Expression


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (7, 7),
        ("ceil_div(n, block)", 16),
        ("n // block if flag else ceil(n / block)", 16),
        ("max(n, 2) - block % 5", 996),
        (lambda n, block: n * block, 64000),
    ],
)
def test_numbers(stated, expected):
    assert Expression(stated).number_of({"n": 1000, "block": 64, "flag": False}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("32 <= n * block <= 1024", False), ("block in (32, 64) and not flag", True), ("kind == 'wide'", True)],
)
def test_conditions(text, expected):
    assert Expression(text).of({"n": 1000, "block": 64, "flag": False, "kind": "wide"}) is expected


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "(1).__class__",
        "n.real",
        "[n for n in (1, 2)]",
        "(lambda: n)()",
        "9 ** 9 ** 9",
        "1 << 10000000",
        "f'{n}'",
        "n := 3",
        "print(n)",
        "max(n, key=abs)",
        "x[0]",
        "n;",
        "",
    ],
)
def test_other_python_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        Expression(text)


@pytest.mark.parametrize(
    ("stated", "error"),
    [
        ("n / 3", "n / 3, with n=10, is 3.333"),
        ("n // 0", "n // 0 with n=10: integer division or modulo by zero"),
        ("n - 11", "n - 11, with n=10, is -1: expected a whole number from 0 on"),
        ("n > 3", "is True: expected a whole number"),
        (lambda n: str(n), "is 10: expected a whole number"),
    ],
)
def test_what_is_no_number_is_refused(stated, error):
    with pytest.raises((ValueError, TypeError), match=error):
        Expression(stated).number_of({"n": 10})
