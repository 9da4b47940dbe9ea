"""The proof's operator as users call it, on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from probe_arrays import COLUMNS, ROWS, arrays, assert_right
from probe_operator import OPERATOR

from autotune import dispatcher


@pytest.mark.parametrize("biased", [False, True])
def test_an_array_may_be_left_out(biased: bool) -> None:
    given = arrays(0, biased=biased)
    y, kept = dispatcher.probe(**given)
    assert_right(given, y, kept)


def test_a_call_follows_its_arrays() -> None:
    """Tensor maps are made anew for each address."""
    out: Any = (np.empty((ROWS, COLUMNS), arrays(0)["x"].dtype), np.empty(COLUMNS, np.int32))
    for seed in (1, 2):
        given = arrays(seed)
        assert all(a is b for a, b in zip(dispatcher.probe(**given, out=out), out, strict=True))
        assert_right(given, *out)


def test_an_output_may_be_an_input() -> None:
    given = arrays(3)
    x = given["x"].copy()
    y, kept = dispatcher.probe(x, given["offset"], given["bias"], out=(x, np.empty(COLUMNS, np.int32)))
    assert y is x
    assert_right(given, x, kept)
    with pytest.raises(ValueError, match="y overlaps x in part"):
        dispatcher.probe(x[:-1], given["offset"], out=(x[1:], kept))
    with pytest.raises(ValueError, match="kept overlaps bias"):
        dispatcher.probe(x, given["offset"], given["bias"], out=(x, given["bias"].view(np.int32)))


def test_a_plan_reads_what_its_arrays_hold_at_each_call() -> None:
    given = arrays(4)
    step = dispatcher.plan(OPERATOR.name, given["x"], given["offset"], given["bias"])
    assert step.choice
    assert step.choice.schedule.to_dict()["tensor_copy"]
    for offset in (2**64 - 1, 5):
        given["offset"][0] = offset
        assert_right(given, *step())
