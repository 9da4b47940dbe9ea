"""What a field may be."""

from typing import Any

import pytest

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.model.fields import FieldSpec

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


def test_a_value_of_another_type_is_said_in_one_line() -> None:
    unusual: Any = "\n"
    with pytest.raises(ValueError, match=r"m='\\n': expected int, not str"):
        TransposeProblem(unusual, 1)
