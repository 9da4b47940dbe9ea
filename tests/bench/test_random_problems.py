"""Which problems are drawn that nobody tuned."""

import pytest

from autotune.bench.dispatch.random_problems import likes_of, random_problems
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.roofline import roofline

H200 = named_device("h200")


def test_a_seed_stands_for_its_problems_and_all_take_about_as_long_as_a_launch_or_more():
    known = [SgemmProblem(64, 64, 64), SgemmProblem(64, 64, 64, transpose_a=True)]
    drawn = random_problems(known, H200, 12, 3)
    assert drawn == random_problems(known, H200, 12, 3) != random_problems(known, H200, 12, 4)
    assert len(set(drawn)) == 12
    assert {problem.transpose_a for problem in drawn} == {False, True}
    assert all(1e-6 <= roofline(problem, H200) <= 2e-3 for problem in drawn)


def test_an_operator_without_records_gets_problems_of_its_usual_kind():
    merge = operator("merge")
    (problem,) = random_problems(likes_of(merge, []), H200, 1, 0)
    assert isinstance(problem, merge.problem_type)
    assert likes_of(merge, [problem]) == [problem]


def test_kinds_of_which_all_problems_are_too_short_are_refused():
    nms = operator("nms")
    with pytest.raises(ValueError, match=r"^0 of 1 problems take from 1 µs to 2 ms by the roofline"):
        random_problems(likes_of(nms, []), H200, 1, 0)
