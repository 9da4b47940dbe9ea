"""Schedules in tables: what tells them apart, and no more."""

from dataclasses import replace

import pytest

from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.registry import operator


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("sgemm", {}, []),
        ("sgemm", {"block_k": 32, "stages": 5}, ["stages=5"]),
        ("sgemm", {"swizzle_a": True}, ["swizzle_a=1"]),
        ("transpose", {"streaming": True}, ["streaming=1"]),
    ],
)
def test_tile_sizes_and_what_differs_from_the_defaults_are_shown(
    name: str, changes: dict[str, int], words: list[str]
) -> None:
    schedule: Schedule = replace(operator(name).kernels[0].schedule_type(), **changes)
    tiles = [f"{short}={getattr(schedule, field)}" for short, field in schedule.short_names().items()]
    assert schedule.summary.split() == [*tiles, *words]


def test_a_schedule_without_either_has_all_words() -> None:
    schedule = operator("transpose").kernels[0].schedule_type()
    assert schedule.summary == str(schedule)
