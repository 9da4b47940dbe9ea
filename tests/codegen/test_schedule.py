"""What every schedule says of itself, and what its fields may be."""

from dataclasses import dataclass, replace
from enum import StrEnum

import pytest
from refusals import refused

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.model.fields import FieldSpec
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.schedule_struct import schedule_struct
from autotune.codegen.streaming.rope.problem import RopeProblem
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


def test_the_digest_does_not_depend_on_the_order_of_the_fields():
    @dataclass(frozen=True)
    class Tiled(Schedule):
        order: Order = Order.ROW
        unrolled: bool = False
        tile: int = 8

    assert Tiled().digest == TILED.digest
    assert Tiled(tile=4).digest != TILED.digest


def test_schedules_of_two_operators_have_different_digests():
    assert OtherTiled().to_dict() == TILED.to_dict()
    assert OtherTiled().digest != TILED.digest


def test_a_schedule_with_other_values_is_as_if_made_with_them():
    other = TILED.replace(tile=4, order=Order.COLUMN)
    assert other == Tiled(tile=4, order=Order.COLUMN)
    assert (hash(other), other.digest) == (hash(Tiled(4, order=Order.COLUMN)), Tiled(4, order=Order.COLUMN).digest)
    assert TILED.tile == 8
    with pytest.raises(TypeError, match="Tiled has no tiles"):
        TILED.replace(tiles=4)


def test_each_field_that_is_read_is_a_constant_of_its_value():
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


test_plain_values_are_checked = refused(
    Tiled.from_dict,
    [
        (({"unrolled": 1},), "unrolled=1 of Tiled: expected bool"),
        (({"tile": True},), "tile=True of Tiled: expected int"),
        (({"tile": 8.0},), r"tile=8\.0 of Tiled: expected int"),
        (({"order": "rows"},), "order='rows' of Tiled: expected one of row, column"),
        (({"tiles": 8},), "unknown field 'tiles' of Tiled; known: tile, unrolled, order"),
    ],
)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("sgemm", {}, []),
        ("sgemm", {"block_k": 32, "stages": 5}, ["stages=5"]),
        ("sgemm", {"swizzle_a": True}, ["swizzle_a=1"]),
        ("transpose", {"streaming": True}, ["streaming=1"]),
    ],
)
def test_tile_sizes_and_what_differs_from_the_defaults_are_shown(name, changes, words):
    schedule = replace(operator(name).kernels[0].schedule_type(), **changes)
    tiles = [f"{short}={getattr(schedule, field)}" for short, field in schedule.short_names().items()]
    assert schedule.summary.split() == [*tiles, *words]


def test_a_schedule_without_either_has_all_words():
    schedule = operator("transpose").kernels[0].schedule_type()
    assert schedule.summary == str(schedule)


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
def test_a_value_that_is_not_allowed_says_why(spec, value, why):
    assert spec.why_invalid(value) == why


def test_a_size_that_another_one_bounds_is_checked_and_made_to_fit():
    with pytest.raises(ValueError, match="rotary_dim=66: expected at most head_dim=64"):
        RopeProblem(1, 1, 1, 64, rotary_dim=66)
    assert (
        RopeProblem.fitted({"batch": 1, "heads_q": 1, "heads_k": 1, "head_dim": 64, "rotary_dim": 66})["rotary_dim"]
        == 64
    )


@pytest.mark.parametrize(("axis", "most"), [(0, 2**31 - 1), (1, 65535), (2, 65535)])
def test_a_grid_is_no_larger_than_devices_launch(axis, most):
    grid = [1, 1, 1]
    grid[axis] = most
    assert Launch("entry", (grid[0], grid[1], grid[2]), (32, 1, 1)).blocks == most
    grid[axis] += 1
    with pytest.raises(ValueError, match=f"entry: {most + 1} blocks along {'xyz'[axis]} over the {most} of a grid"):
        Launch("entry", (grid[0], grid[1], grid[2]), (32, 1, 1))


def test_a_value_of_another_type_is_said_in_one_line():
    unusual = "\n"
    with pytest.raises(ValueError, match=r"m='\\n': expected int, not str"):
        TransposeProblem(unusual, 1)
