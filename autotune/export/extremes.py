"""``min`` and ``max`` of expressions."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .expressions import Expression, bounds, whole_number


def extreme(choose: Callable[..., Any], first: Any, *others: Any) -> Any:
    """``min`` or ``max`` of numbers of which some are expressions; the first of equal ones, as in Python."""
    chosen = first
    for one in others:
        (low, high), (least, most) = bounds(chosen), bounds(one)
        if choose.__name__ == "min":
            low, high, least, most = -high, -low, -most, -least
        if low >= most:
            continue
        if least >= high:
            chosen = one
        elif not isinstance(chosen, Expression) and not isinstance(one, Expression):
            chosen = choose(chosen, one)
        else:
            pool = chosen.pool if isinstance(chosen, Expression) else one.pool
            ends = [choose(pair) for pair in zip(bounds(chosen), bounds(one), strict=True)]
            whole = whole_number(chosen) and whole_number(one)
            chosen = pool.make(choose.__name__, (chosen, one), *(ends if whole else (None, None)))
    return chosen


@contextmanager
def symbolic_extremes() -> Iterator[None]:
    """Let ``min`` and ``max`` take expressions, without a branch; of all else they do what they did."""
    plain = {"min": builtins.min, "max": builtins.max}

    def either(choose: Callable[..., Any]) -> Callable[..., Any]:
        def chosen(*values: Any, **options: Any) -> Any:
            numbers = tuple(values[0]) if len(values) == 1 else values
            if options.get("key") is None and Expression in map(type, numbers):
                return extreme(choose, *numbers)
            return choose(*((numbers,) if len(values) == 1 else values), **options)

        return chosen

    for name, choose in plain.items():
        setattr(builtins, name, either(choose))
    try:
        yield
    finally:
        for name, choose in plain.items():
            setattr(builtins, name, choose)
