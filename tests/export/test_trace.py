"""What Python computes from sizes, as terms of C++ and the conditions under which it is so."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from autotune.codegen.model.integers import ceil_div, round_up, widest_divisor
from autotune.export.terms import Terms, Values
from autotune.export.trace import Path, TraceError

MOST = {"n": 1000, "k": 2**40}


def traced(function: Callable[[Any, Any], Any], n: int, k: int = 5) -> tuple[Path, Any]:
    path = Path(Terms(MOST))
    sizes = path.sizes({"n": n, "k": k})
    return path, function(sizes["n"], sizes["k"])


@pytest.mark.parametrize(
    "function",
    [
        lambda n, k: min(n, 7) * k - n,
        lambda n, k: ceil_div(n, 128) + round_up(k, 16),
        lambda n, k: (n - 500) // 7 + (k - n) % 13,
        lambda n, k: -n % 128 if n > k else divmod(k, n)[1],
        lambda n, k: widest_divisor(8, n, k),
        lambda n, k: sum(1 for turn in range(9) if turn < math.ceil(n)) * k * k,
        lambda n, k: 64 if n > 3.5 else int(n) + k,
    ],
)
def test_the_same_conditions_lead_to_the_same_terms(function: Callable[[Any, Any], Any]) -> None:
    alike = 0
    for n, k in ((1, 5), (6, 8), (8, 8), (96, 64), (640, 2**33), (999, 17)):
        path, result = traced(function, n, k)
        for other in ((1, 5), (7, 9), (8, 8), (640, 2**33), (999, 17), (1000, 2**40)):
            values = Values(path.terms, dict(zip(MOST, other, strict=True)))
            if all(values.of(condition) is way for condition, way in path.conditions.items()):
                alike += 1
                assert values.of(str(getattr(result, "name", result))) == function(*other)
    assert alike > 1


def test_what_needs_a_value_is_so_for_this_value_only() -> None:
    path, result = traced(lambda n, k: [*range(n - 3)], 5)
    assert (result, path.narrow, path.conditions) == ([0, 1], 0, {"x0 == 2": True})
    path, result = traced(lambda n, k: f"rounds = {n + 1}", 5)
    assert (path.plain(result), path.narrow) == ("rounds = 6", 0)
    path, result = traced(lambda n, k: (n**0.5 + k / 2) * 3.0, 5)  # a tolerance, which nobody asks for
    assert not path.conditions
    assert (math.floor(result), path.conditions) == (14, {"n == 5": True, "k == 5": True})


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda n, k: {n: 1}, "looked up in a table or a cache"),
        (lambda n, k: k // (n - 5), "expected a divisor of at least 1"),
        (lambda n, k: k * k * k * k, "over 127 bits"),
    ],
)
def test_what_c_cannot_follow_is_refused(function: Callable[[Any, Any], Any], message: str) -> None:
    with pytest.raises(TraceError, match=message):
        traced(function, 5)
