"""Which schedules of rows are legal, what they take of an SM, and which of them are tried first."""

import pytest

from autotune.codegen.rows.schedule import RowSchedule
from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.rows.row_schedules import row_space, row_violations

H200 = named_device("h200")


def schedule(words):
    return RowSchedule.parse(words.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("threads=64 TPR=128", ["threads_per_row 128 over the 64 threads of a block"]),
        ("cluster=2", ["threads_per_row 32: expected all 128 threads of the blocks of a cluster"]),
        ("vector_width=16", ["vector_width 16: 32 bytes over the 16 of an access"]),
        ("loads_in_flight=2", ["loads_in_flight 2: expected 1 for rows that are held, whose loads all are"]),
        ("loads_in_flight=2 hold=reload", []),
        ("hold=shared", ["vector_width 1: 2 bytes, cp.async copies 4 or more"]),
        ("TPR=1", ["100 vectors of a thread in registers over 64"]),
        ("TPR=1 vector_width=2 hold=shared", []),
    ],
)
def test_violations_carry_the_values(words, expected):
    assert list(row_violations(schedule(words), 100, 2)) == expected


@pytest.mark.parametrize(
    ("words", "registers", "shared_bytes"),
    [
        ("vector_width=8", 24 + 8 * 4, 0),
        ("vector_width=1", 24 + 63, 0),
        ("vector_width=8 TPR=128", 24 + 2 * 4, 16 * 4),
        ("vector_width=8 hold=shared", 24 + 4, 8 * 128 * 16),
        ("vector_width=8 hold=reload", 24 + 4, 0),
    ],
)
def test_the_footprint_is_of_what_a_thread_holds(words, registers, shared_bytes):
    footprint = schedule(words).row_footprint(reach=2000, element_bytes=2)
    assert (footprint.registers, footprint.shared_bytes) == (registers, shared_bytes)


@pytest.mark.parametrize(
    ("aligned", "reach"), [(1, 1000 + 15), (4, 1000 + 12), (8, 1000), (16, 1000)], ids=lambda value: str(value)
)
def test_a_row_reaches_as_far_as_its_first_sector_may_begin_ahead(aligned, reach):
    assert schedule("vector_width=8").reach(1000, aligned, element_bytes=2) == reach


@pytest.mark.parametrize(("columns", "aligned"), [(1, 1), (100, 4), (5000, 8)])
def test_draws_are_undone(columns, aligned):
    space = row_space(RowSchedule, columns, aligned, 2, H200)
    draws = space.random_draws(0)
    for _ in range(200):
        built = space.build(next(draws))
        assert space.build(space.draw_of(built)) == built
        assert not list(row_violations(built, built.reach(columns, aligned, 2), 2))


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
def test_fastest_schedules_are_tried_first(name, problem, fastest):
    operator, spec = OPERATORS[name], named_device("h200")
    like = operator.problem_type.from_dict({"dtype": "bfloat16", **problem})
    first = fastest_first(operator, like, operator.seeds(like, spec), spec)[:FIRST]
    assert any(operator.kernels[0].schedule_type.parse(fastest.split(), schedule) == schedule for schedule in first)
