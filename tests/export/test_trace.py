"""What Python computes from sizes, as expressions and as trees."""

import builtins
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from autotune.codegen.model.integers import ceil_div
from autotune.export.cpp import Writer, type_of
from autotune.export.expressions import Condition, Expression, Pool, TraceError
from autotune.export.trace import Branch, Leaf, leaves, mapped, traced

POOL = Pool()
N = POOL.size("n", 1, 1000)


def written(value: Any) -> str:
    writer = Writer("")
    writer.line(f"return {writer.number(value)};")
    return " ".join(writer.lines)


def test_conditions_become_branches_and_known_ones_do_not() -> None:
    def kind(n: Any) -> str:
        if n < 1 or n > 1000:
            return "impossible"
        if n % 8:
            return "ragged"
        return "ragged" if n % 8 else "whole"  # asked before

    tree = traced(POOL, lambda: kind(N))
    assert tree == Branch((Condition("==", N % 8, 0),), Leaf("whole"), Leaf("ragged"))
    assert mapped(tree, len) == Branch((Condition("==", N % 8, 0),), Leaf(5), Leaf(6))
    assert mapped(tree, bool) == Leaf(True)


@pytest.mark.parametrize(
    ("compute", "low", "high"),
    [
        (lambda n: min(n, 0) * n, 0, 0),
        (lambda n: max(n, 0), 1, 1000),
        (lambda n: min(n, 7), 1, 7),
        (lambda n: max(3, n) - 5, -2, 995),
        (lambda n: ceil_div(n, 128), 1, 8),
        (lambda n: n % 2000, 1, 1000),
        (lambda n: -n % 128, 0, 127),
        (lambda n: 1000 // n, 1, 1000),
    ],
)
def test_whole_numbers_lie_in_their_intervals(compute: Callable[[Any], Any], low: int, high: int) -> None:
    (value,) = leaves(traced(POOL, lambda: compute(N)))
    assert (getattr(value, "low", value), getattr(value, "high", value)) == (low, high)
    assert all(low <= compute(n) <= high for n in range(1, 1001))


def test_extremes_of_plain_numbers_are_pythons_again() -> None:
    before = builtins.min, builtins.max
    with pytest.raises(ZeroDivisionError):
        traced(POOL, lambda: min(N, 2) / 0 if N > 1 else max([1, 2], default=0) / 0)
    assert (builtins.min, builtins.max) == before


def test_what_c_cannot_follow_is_refused() -> None:
    @cache
    def remembered(n: Any) -> bool:
        return bool(n > 500)

    for function, message in (
        (lambda: remembered(N), "looked up in a table or a cache"),
        (lambda: list(range(N)), "needed as a plain number"),
        (lambda: float(N), "needed as a plain number"),
        (lambda: 7 % (N - 1), "a divisor of at least 1"),
    ):
        with pytest.raises(TraceError, match=message):
            traced(POOL, function)
    with pytest.raises(TraceError, match="where nothing is traced"):
        assert N < 5
    with pytest.raises(TraceError, match="over 127 bits"):
        type_of(N * 2**120)


def test_problems_that_cannot_exist_have_no_value() -> None:
    def checked() -> Expression:
        if N > 10:
            raise ValueError("too many")
        return N

    assert list(leaves(traced(POOL, checked))) == [None, N]


def test_expressions_are_written_once_and_in_their_types() -> None:
    large = POOL.size("k", 1, 2**40)
    assert written(ceil_div(N, 8) + ceil_div(N, 8)) == (
        "const long long x0 = sizes.n; const long long x1 = ceil_div(x0, 8LL); const long long x2 = x1 + x1; return x2;"
    )
    assert type_of(large * large) == "Wide"
    assert written(N / 3).endswith("static_cast<double>(x0) / 0x1.8000000000000p+1; return x1;")
