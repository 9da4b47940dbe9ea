"""What a field may be."""

from typing import Any

import pytest

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.model.fields import FieldSpec
from autotune.codegen.model.launch import Launch
from autotune.codegen.streaming.rope.problem import RopeProblem

FROM_1_TO_4, POWER, ALLOWED = FieldSpec(least=1, most=4), FieldSpec(power_of_two=True), FieldSpec(allowed=(1, 2, 4))


@pytest.mark.parametrize(
    ("spec", "value", "why"),
    [
        (FROM_1_TO_4, 0, "expected 1 … 4"),
        (FROM_1_TO_4, 1, ""),
        (FROM_1_TO_4, 4, ""),
        (FROM_1_TO_4, 5, "expected 1 … 4"),
        (FieldSpec(least=2), 1, "expected 2 or more"),
        (POWER, 8, ""),
        (POWER, 6, "expected a power of two"),
        (POWER, 0, "expected a power of two"),
        (POWER, -8, "expected a power of two"),
        (ALLOWED, 4, ""),
        (ALLOWED, 3, "expected one of 1, 2, 4"),
        (FROM_1_TO_4, "a word", ""),
    ],
)
def test_a_value_that_is_not_allowed_says_why(spec: FieldSpec, value: Any, why: str) -> None:
    assert spec.why_invalid(value) == why


def test_a_size_that_another_one_bounds_is_checked_and_made_to_fit() -> None:
    with pytest.raises(ValueError, match="rotary_dim=66: expected at most head_dim=64"):
        RopeProblem(1, 1, 1, 64, rotary_dim=66)
    assert (
        RopeProblem.fitted({"batch": 1, "heads_q": 1, "heads_k": 1, "head_dim": 64, "rotary_dim": 66})["rotary_dim"]
        == 64
    )


@pytest.mark.parametrize(("axis", "most"), [(0, 2**31 - 1), (1, 65535), (2, 65535)])
def test_a_grid_is_no_larger_than_devices_launch(axis: int, most: int) -> None:
    grid = [1, 1, 1]
    grid[axis] = most
    assert Launch("entry", (grid[0], grid[1], grid[2]), (32, 1, 1)).blocks == most
    grid[axis] += 1
    with pytest.raises(ValueError, match=f"entry: {most + 1} blocks along {'xyz'[axis]} over the {most} of a grid"):
        Launch("entry", (grid[0], grid[1], grid[2]), (32, 1, 1))


def test_a_value_of_another_type_is_said_in_one_line() -> None:
    unusual: Any = "\n"
    with pytest.raises(ValueError, match=r"m='\\n': expected int, not str"):
        TransposeProblem(unusual, 1)
