"""What explain says, in Python; tests/cli has the command."""

import pytest
from records import H200, SGEMM, problem, schedule, trial

from autotune import dispatcher
from autotune.dispatcher.choice.rule import Rule


@pytest.fixture
def known(database):
    for number, m in enumerate((512, 600, 5000)):
        database.record(trial(problem(m), schedule(number, problem(m)), seconds=8e-6 * m / 512))


def test_the_chosen_one_is_what_a_call_gets(known):
    found = dispatcher.explain("sgemm", device="h200", m=520, n=512, k=512)
    assert found.chosen.rule is Rule.NEAREST
    assert found.chosen.record == "m512-n512-k512-nn"
    assert found.chosen.schedule == schedule(0, problem(512))
    assert found.chosen.seconds == pytest.approx(8e-6)
    assert [choice.rule for choice in found.considered] == [Rule.NEAREST, Rule.NEAREST, Rule.MODEL, Rule.DEFAULT]
    assert str(found).startswith("sgemm m520-n512-k512-nn on NVIDIA H200: nearest, record m512-n512-k512-nn, distance ")


def test_what_cannot_serve_says_why(known):
    found = dispatcher.explain("sgemm", device="h200", m=512, n=512, k=512, align_b=4)
    assert found.chosen.rule is Rule.MODEL
    illegal = "vector_b 4 over the 1 elements that B is aligned for"
    assert [choice.reason for choice in found.considered] == ["", illegal, illegal, ""]


def test_without_records_the_model_chooses():
    found = dispatcher.explain("transpose", device="h200", m=512, n=512)
    assert found.chosen.rule is Rule.MODEL
    assert found.chosen.seconds > 0
    assert "schedule tile_m=" in str(found)


@pytest.mark.parametrize("m", [0, 1, 7, 4096, 100000])
def test_the_models_choice_is_legal(m):
    found = dispatcher.explain("sgemm", device="t4", m=m, n=512, k=512, transpose_a=True)
    assert SGEMM.violations(found.problem, found.chosen.schedule, found.spec) == []
    assert found.spec != H200


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [("sgem", {}, "unknown operator 'sgem'; did you mean sgemm"), ("sgemm", {"m": 5}, "field 'n' of")],
)
def test_bad_arguments_get_one_line(name, fields, message):
    with pytest.raises(ValueError, match=message):
        dispatcher.explain(name, **fields)


def test_a_device_is_named_by_a_string():
    with pytest.raises(TypeError, match="device=0: expected a string, such as 'auto', '0' or 'h200'"):
        dispatcher.explain("sgemm", device=0, m=5, n=5, k=5)
