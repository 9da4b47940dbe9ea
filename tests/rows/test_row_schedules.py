"""Which schedules of rows are legal, and what they take of an SM."""

from __future__ import annotations

import pytest

from autotune.codegen.rows.schedule import RowSchedule
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.rows.row_schedules import row_space, row_violations

H200 = named_device("h200")


def schedule(words: str) -> RowSchedule:
    return RowSchedule.parse(words.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("threads=64 TPR=128", ["threads_per_row 128 over the 64 threads of a block"]),
        ("cluster=2", ["threads_per_row 32: expected all 128 threads of the blocks of a cluster"]),
        ("vector_width=8", ["vector_width 8 over the 4 elements that rows are aligned for"]),
        ("loads_in_flight=2", ["loads_in_flight 2: expected 1 for rows in registers, whose loads all are"]),
        ("loads_in_flight=2 hold=reload", []),
        ("TPR=1", ["100 vectors of a thread in registers over 64"]),
        ("TPR=1 hold=shared", []),
    ],
)
def test_violations_carry_the_values(words: str, expected: list[str]) -> None:
    assert list(row_violations(schedule(words), 1000, 100, (8, 4))) == expected


def test_the_grid_is_limited() -> None:
    found = list(row_violations(schedule("TPR=128"), 2**31, 100, (4, 4)))
    assert found == ["2147483648 blocks over the 2147483647 of a grid"]


@pytest.mark.parametrize(
    ("words", "registers", "shared_bytes"),
    [
        ("vector_width=8", 24 + 8 * 4, 0),
        ("vector_width=1", 24 + 63, 0),
        ("vector_width=8 TPR=128", 24 + 2 * 4, 16 * 5),
        ("vector_width=8 hold=shared loads_in_flight=4", 24 + 16, 8 * 128 * 16),
        ("vector_width=8 hold=reload", 24 + 4, 0),
    ],
)
def test_the_footprint_is_of_what_a_thread_holds(words: str, registers: int, shared_bytes: int) -> None:
    footprint = schedule(words).row_footprint(columns=2000, element_bytes=2)
    assert (footprint.registers, footprint.shared_bytes) == (registers, shared_bytes)


@pytest.mark.parametrize(("columns", "widths"), [(1, (1, 1)), (100, (4, 8)), (5000, (8, 8))])
def test_draws_are_undone(columns: int, widths: tuple[int, int]) -> None:
    space = row_space(RowSchedule, columns, 2, widths, H200)
    draws = space.random_draws(0)
    for _ in range(200):
        built = space.build(next(draws))
        assert space.build(space.draw_of(built)) == built
        assert not list(row_violations(built, 1000, columns, widths))
