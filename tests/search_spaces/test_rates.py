"""Rates as people read them: of what bounds the problem on the device."""

from types import SimpleNamespace
from typing import Any

import pytest

from autotune.codegen.model.work import Unit, Work
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.rates import rate, rates_document


def problem(work: Work) -> Any:
    return SimpleNamespace(work=work)


@pytest.mark.parametrize(
    ("work", "device", "shown"),
    [
        (Work(10**9, {Unit.FP32: 10**9}), "h200", "1000 GB/s"),
        (Work(10**9, {Unit.FP32: 5 * 10**10}), "h200", "50 TFLOP/s"),
        (Work(10**9, {Unit.TENSOR_FP16: 10**11}), "h200", "1000 GB/s"),
        (Work(10**9, {Unit.TENSOR_FP16: 5 * 10**11, Unit.FP32: 10**9}), "h200", "500 TFLOP/s"),
        (Work(10**9, {Unit.TENSOR_INT8: 10**12}), "h200", "1000 TOP/s"),
        (Work(10**9, {Unit.TENSOR_FP8: 10**12}), "a100", "1000 TFLOP/s"),
    ],
)
def test_a_rate_is_of_what_bounds_the_problem(work: Work, device: str, shown: str) -> None:
    assert rate(problem(work), named_device(device), 1e-3) == shown


def test_scripts_get_all_rates() -> None:
    both = problem(Work(10, {Unit.FP32: 20, Unit.SPECIAL: 5}))
    assert rates_document(both, 2.0) == {
        "bytes_per_second": 5,
        "operations_per_second": {"fp32": 10, "special": 2.5},
    }
    assert rates_document(both, None) == {"bytes_per_second": None, "operations_per_second": None}
