"""The rule by which outputs are judged."""

from __future__ import annotations

import numpy as np
import pytest

from autotune.codegen.dtype import DType
from autotune.codegen.tensor import Role, Tensor
from autotune.verification import Mismatch, compare, poisoned

F32 = np.float32
POISON = poisoned(Tensor.flat("c", DType.FLOAT32, 1, Role.OUTPUT, 4))[0]


def test_poison_is_nan_and_all_bits() -> None:
    assert np.isnan(POISON)
    assert poisoned(Tensor.flat("c", DType.UINT16, 3, Role.OUTPUT, 4)).tolist() == [0xFFFF] * 3


def test_the_largest_error_is_returned() -> None:
    assert compare(np.array([1, 2.5, -4], F32), np.array([1, 2, -4.25]), 0.5) == 0.5


@pytest.mark.parametrize("bound", [0.0, 1.0])
def test_gaps_must_be_as_they_were(bound: float) -> None:
    gap = np.array([1, np.nan])
    assert compare(np.array([1, POISON], F32), gap, bound) == 0
    for written in (0.0, np.nan, np.inf):  # np.nan has other bits than poison
        outcome = compare(np.array([1, written], F32), gap, bound)
        assert isinstance(outcome, Mismatch)
        assert (outcome.count, outcome.index) == (1, 1)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 2.75, POISON])
def test_anything_out_of_bounds_is_wrong(wrong: float) -> None:
    outcome = compare(np.array([1, wrong, wrong], F32), np.array([1.0, 2.0, 2.0]), 0.5)
    assert str(outcome) == f"wrong: 2 of 3 elements, first at 1: got {F32(wrong)}, expected 2.0"


def test_a_bound_of_0_compares_bits() -> None:
    assert compare(np.array([7, 0xFF], np.uint8), np.array([7, 0xFF], np.uint8), 0) == 0
    assert isinstance(compare(np.array([0.0], F32), np.array([-0.0]), 0), Mismatch)
    assert isinstance(compare(np.array([1.0], F32), np.array([1 + 1e-6]), 0), Mismatch)


def test_nothing_is_right() -> None:
    assert compare(np.zeros(0, F32), np.zeros(0), 1e-3) == 0


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="shape"):
        compare(np.zeros(2, F32), np.zeros(3), 0)
