"""How to fit pictures into a target."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .target import Targets

_TAP_BYTES, _PLACE_BYTES = 16, 48
_REGISTERS = 40


@dataclass(frozen=True)
class LetterboxSchedule(Schedule):
    """A block has a part of the target. It finds out once which rows and columns of the picture make it.

    Attributes:
        threads_x, threads_y: of a block.
        pixels: neighbours of a thread, which it stores together.
        rows: of a thread.
    """

    kernel = "taps"

    threads_x: int = tunable(32, values=(16, 32, 64, 128), power_of_two=True)
    threads_y: int = tunable(8, values=(1, 2, 4, 8, 16), power_of_two=True)
    pixels: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    rows: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.threads_x * self.threads_y

    @property
    def tile_width(self) -> int:
        """Columns of a block."""
        return self.threads_x * self.pixels

    @property
    def tile_height(self) -> int:
        """Rows of a block."""
        return self.threads_y * self.rows

    def tile_sizes(self, problem: Targets) -> dict[str, int]:
        """See `Schedule`."""
        return {"height": self.tile_height, "width": self.tile_width}

    def blocks(self, problem: Targets) -> int:
        """One for each part of each target."""
        across, down = (
            ceil_div(problem.width, self.tile_width),
            ceil_div(problem.height, self.tile_height),
        )
        return problem.batch * across * down

    def footprint(self, problem: Targets) -> Footprint:
        """Taps of rows and columns."""
        shared = _PLACE_BYTES + (self.tile_width + self.tile_height) * _TAP_BYTES
        return Footprint(self.threads, shared, _REGISTERS + 3 * self.pixels)
