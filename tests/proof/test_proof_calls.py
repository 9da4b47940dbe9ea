"""The proof's operator as users call it, on NumPy arrays."""

from typing import Any

import numpy as np
import pytest
from probe import OPERATOR
from probe_calls import arrays, assert_right, empty_outputs

from autotune import dispatcher


@pytest.mark.parametrize("biased", [False, True])
def test_an_array_may_be_left_out(biased: bool) -> None:
    given = arrays(0, biased=biased)
    assert_right(given, *dispatcher.probe(**given))


def test_a_call_follows_its_arrays() -> None:
    """Tensor maps are made anew for each address. What is behind the counts stays."""
    out: Any = empty_outputs()
    for seed in (1, 2):
        given = arrays(seed)
        out[2].fill(-seed)
        assert all(a is b for a, b in zip(dispatcher.probe(**given, out=out), out, strict=True))
        assert_right(given, *out)
        assert (out[2] == -seed).sum() == out[2].size - out[1].sum()


def test_an_output_may_be_an_input() -> None:
    given = arrays(3)
    x = given["x"].copy()
    _, kept, rows = empty_outputs()
    y, *_ = dispatcher.probe(x, given["offset"], given["bias"], out=(x, kept, rows))
    assert y is x
    assert_right(given, x, kept, rows)
    with pytest.raises(ValueError, match="y overlaps x in part"):
        dispatcher.probe(x[:-1], given["offset"], out=(x[1:], kept, rows[:, 1:].copy()))
    with pytest.raises(ValueError, match="kept overlaps bias"):
        dispatcher.probe(x, given["offset"], given["bias"], out=(x, given["bias"].view(np.int32), rows))


def test_a_plan_reads_what_its_arrays_hold_at_each_call() -> None:
    given = arrays(4)
    step = dispatcher.plan(OPERATOR.name, given["x"], given["offset"], given["bias"])
    assert step.choice
    assert step.choice.schedule.to_dict()["tensor_copy"]
    for offset in (2**64 - 1, 5):
        given["offset"][0] = offset
        assert_right(given, *step())
