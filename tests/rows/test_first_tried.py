"""The schedules that were measured to be fastest on an H200 are among the first that a search tries."""

from typing import Any

import pytest

from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.machine.devices import named_device

FIRST = 11
RMS = {"centered": False, "bias": False, "saved": True}


@pytest.mark.parametrize(
    ("name", "problem", "fastest"),
    [
        ("softmax", {"rows": 65536, "columns": 2048, "causal": True, "queries": 2048}, "threads=64 TPR=64 passes=kept"),
        ("softmax", {"rows": 65536, "columns": 2048}, "threads=128 TPR=128 passes=kept"),
        ("softmax_backward", {"rows": 512, "columns": 50257, "log": True}, "hold=reload cluster=4 threads=256"),
        (
            "norm_backward",
            {"rows": 4096, "columns": 4096, **RMS},
            "threads=256 hold=shared rows_ahead=1 vector_width=4",
        ),
        ("layer_norm", {"rows": 4096, "columns": 4096}, "TPR=128 passes=shifted specialize=shape streaming=1"),
    ],
)
def test_fastest_schedules_are_tried_first(name: str, problem: dict[str, Any], fastest: str) -> None:
    operator, spec = OPERATORS[name], named_device("h200")
    like = operator.problem_type.from_dict({"dtype": "bfloat16", **problem})
    first = fastest_first(operator, like, operator.seeds(like, spec), spec)[:FIRST]
    assert any(operator.kernels[0].schedule_type.parse(fastest.split(), schedule) == schedule for schedule in first)
