"""What a session on a GPU makes of outputs with several right answers, and of those that a count ends."""

import ctypes
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from host_driver import host_context

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Checked, Extent, Role, Tensor
from autotune.codegen.model.work import Work
from autotune.db.states import Status
from autotune.devices.cuda_session import CudaSession
from autotune.devices.verifier import EMPTY_REPORT
from autotune.search_spaces.machine.devices import named_device

SIZE, ABOVE = 8, [5, 6, 7]


@dataclass(frozen=True)
class Above(Problem):
    """The numbers of x above 4 in any order, and how many there are."""

    work = Work(64)

    @property
    def tensors(self):
        count = Tensor.flat("count", DType.INT32, 1, Role.OUTPUT, 4)
        judged = Checked("a number of x above 4")
        y = Tensor("y", DType.INT32, (SIZE,), (1,), Role.OUTPUT, 4, judged, "x", Extent("count"))
        return Tensor.flat("x", DType.INT32, SIZE, Role.INPUT, 4), count, y

    def inputs(self, seed):
        return {"x": np.arange(SIZE, dtype=np.int32)}

    def reference(self, inputs, scalars):
        raise NotImplementedError


def program(name, *pointers):
    return Program("", tuple(Argument(one, "int*") for one in pointers), (Launch(name, (1, 1, 1), (1, 1, 1)),))


ABOVE_4 = program("above", "x", "count", "y")
OPERATOR: Any = SimpleNamespace(
    reference=lambda problem: ABOVE_4, checked_by=lambda problem: program("check", "x", "count", "y", "y_report")
)


def numbers(address, kind=ctypes.c_int32):
    return np.ctypeslib.as_array((kind * SIZE).from_address(address))


def check(a):
    report = numbers(a.y_report, ctypes.c_uint64)
    assert report[:3].tobytes() == EMPTY_REPORT.tobytes()
    listed = numbers(a.y)[: max(0, int(numbers(a.count)[0]))]
    wrong = [place for place, number in enumerate(listed) if number not in ABOVE or number in listed[:place]]
    report[:2] = len(wrong), min(wrong, default=2**64 - 1)


def listing(*listed, count=3):
    def kernel(a):
        numbers(a.y)[: len(listed)] = listed
        ctypes.c_int32.from_address(a.count).value = count

    return kernel


@pytest.fixture
def evaluate(monkeypatch):
    context = host_context(monkeypatch, named_device("h200"), listing(*ABOVE), check)

    def run(kernel):
        with CudaSession(context, OPERATOR, Above(), 0) as session:
            return session.evaluate(Schedule(), ABOVE_4, kernel)

    return run


@pytest.mark.parametrize("listed", [(5, 6, 7), (7, 5, 6)])
def test_each_right_answer_is_right(evaluate, listed):
    assert (evaluate(listing(*listed)).error, evaluate(listing(*listed)).status) == ("", Status.OK)


@pytest.mark.parametrize(
    ("kernel", "error"),
    [
        (listing(5, 4, 7), "y: wrong: 1 of 8 elements, first at 1: got 4, expected a number of x above 4"),
        (listing(5, 6, 5), "y: wrong: 1 of 8 elements, first at 2: got 5, expected a number of x above 4"),
        (listing(5, 6), "y: wrong: 1 of 8 elements, first at 2: got -1, expected a number of x above 4"),
        (listing(5, 6, 7, 7), "y: wrong: 1 of 8 elements, first at 3: got 7, expected the gap untouched"),
        (
            listing(5, 6, 7, count=2),
            "count: wrong: 1 of 1 elements, first at 0: got 2, expected 3; "
            "y: wrong: 1 of 8 elements, first at 2: got 7, expected the gap untouched",
        ),
    ],
)
def test_a_wrong_answer_is_wrong(evaluate, kernel, error):
    found = evaluate(kernel)
    assert (found.status, found.error) == (Status.WRONG, error)


def test_what_is_behind_the_count_stays_in_place_too(evaluate):
    """There the array holds the numbers of x."""

    def clears(a):
        if a.x == a.y:
            numbers(a.y)[-1] = 0
        listing(*ABOVE)(a)

    found = evaluate(clears)
    assert found.error == "in place: y: wrong: 1 of 8 elements, first at 7: got 0, expected the gap untouched"
