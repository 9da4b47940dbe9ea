"""What every schedule says of itself."""

from dataclasses import dataclass, replace
from enum import StrEnum

import pytest

from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.schedule_struct import schedule_struct
from autotune.search_spaces.contract.registry import operator


class Order(StrEnum):
    ROW = "row"
    COLUMN = "column"


@dataclass(frozen=True)
class Tiled(Schedule):
    tile: int = 8
    unrolled: bool = False
    order: Order = Order.ROW


@dataclass(frozen=True)
class OtherTiled(Schedule):
    tile: int = 8
    unrolled: bool = False
    order: Order = Order.ROW


TILED = Tiled()


def test_the_digest_does_not_depend_on_the_order_of_the_fields() -> None:
    @dataclass(frozen=True)
    class Tiled(Schedule):
        order: Order = Order.ROW
        unrolled: bool = False
        tile: int = 8

    assert Tiled().digest == TILED.digest
    assert Tiled(tile=4).digest != TILED.digest


def test_schedules_of_two_operators_have_different_digests() -> None:
    assert OtherTiled().to_dict() == TILED.to_dict()
    assert OtherTiled().digest != TILED.digest


def test_a_schedule_with_other_values_is_as_if_made_with_them() -> None:
    other = TILED.replace(tile=4, order=Order.COLUMN)
    assert other == Tiled(tile=4, order=Order.COLUMN)
    assert (hash(other), other.digest) == (hash(Tiled(4, order=Order.COLUMN)), Tiled(4, order=Order.COLUMN).digest)
    assert TILED.tile == 8
    with pytest.raises(TypeError, match="Tiled has no tiles"):
        TILED.replace(tiles=4)


def test_each_field_that_is_read_is_a_constant_of_its_value() -> None:
    source = "Schedule::tile Schedule::unrolled Schedule::order"
    assert schedule_struct(TILED, source).splitlines() == [
        "enum class Order { row, column };",
        "struct Schedule {",
        "  static constexpr int tile = 8;",
        "  static constexpr bool unrolled = false;",
        "  static constexpr Order order = Order::row;",
        "};",
    ]
    assert "  static constexpr bool unrolled = true;" in schedule_struct(Tiled(unrolled=True), source)
    assert "tile" not in schedule_struct(TILED, "Schedule::unrolled")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"unrolled": 1}, "unrolled=1 of Tiled: expected bool"),
        ({"tile": True}, "tile=True of Tiled: expected int"),
        ({"tile": 8.0}, r"tile=8\.0 of Tiled: expected int"),
        ({"order": "rows"}, "order='rows' of Tiled: expected one of row, column"),
        ({"tiles": 8}, "unknown field 'tiles' of Tiled; known: tile, unrolled, order"),
    ],
)
def test_plain_values_are_checked(values: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{complaint}$"):
        Tiled.from_dict(values)


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
