"""The size of a space: exact where it is small, an honest estimate where it is large."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.sizes import space_size
from autotune.search_spaces.contract.space import Draw, Parameter, Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")


@dataclass(frozen=True)
class Tile(Schedule):
    rows: int = 1
    columns: int = 1


def tiles(side: int, largest_area: int) -> Any:
    """An operator whose tiles have sides of 1 … `side`; areas over `largest_area` are not legal."""

    def build(draw: Draw) -> Tile:
        return Tile(int(draw["rows"]), int(draw["columns"]))

    def violations(problem: object, tile: Tile, spec: DeviceSpec) -> list[str]:
        return [] if tile.rows * tile.columns <= largest_area else [f"{tile.rows} × {tile.columns} is too large"]

    sides = tuple(range(1, side + 1))
    space = Space((Parameter("rows", sides), Parameter("columns", sides)), build)
    return SimpleNamespace(space=lambda problem, spec: space, violations=violations)


def legal_tiles(side: int, largest_area: int) -> int:
    return sum(a * b <= largest_area for a in range(1, side + 1) for b in range(1, side + 1))


def test_a_small_space_is_counted() -> None:
    size = space_size(tiles(8, 20), None, H200, draws=64)
    assert (size.raw, size.legal, size.standard_error) == (64, legal_tiles(8, 20), 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_large_space_is_estimated_within_its_error(seed: int) -> None:
    size = space_size(tiles(200, 10_000), None, H200, draws=1000, seed=seed)
    assert size.raw == 40_000
    assert 0 < size.standard_error < 0.02 * size.raw
    assert abs(size.legal - legal_tiles(200, 10_000)) < 4 * size.standard_error


def test_an_estimate_is_reproducible() -> None:
    first, again, other = (space_size(tiles(100, 5000), None, H200, draws=500, seed=seed) for seed in (7, 7, 8))
    assert first == again != other


def test_a_sample_without_a_legal_draw_does_not_claim_certainty() -> None:
    size = space_size(tiles(100, 0), None, H200, draws=500)
    assert size.legal == 0
    assert size.standard_error > 0
