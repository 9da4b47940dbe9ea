"""How to fit pictures into a target by filters of many rows and columns."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.letterbox.target import CHANNELS, Targets

_PLACE_BYTES, _FILTER_BYTES, _LEVEL_BYTES = 40, 20, 4
_REGISTERS = 40


@dataclass(frozen=True)
class FilteredSchedule(Schedule):
    """A block has a part of the target. First it makes the picture's rows as narrow as the target's, then less of them.

    Attributes:
        threads_x, threads_y: of a block.
        rows: of the target, of a thread.
        together: rows of the picture that a thread makes narrow at once.
    """

    kernel = "filtered"

    threads_x: int = tunable(32, values=(32, 64, 128), power_of_two=True, least=32)
    threads_y: int = tunable(8, values=(1, 2, 4, 8, 16), power_of_two=True)
    rows: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    together: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.threads_x * self.threads_y

    @property
    def tile_height(self) -> int:
        """Rows of a block."""
        return self.threads_y * self.rows

    def tile_sizes(self, problem: Targets) -> dict[str, int]:
        """See `Schedule`."""
        return {"height": self.tile_height, "width": self.threads_x}

    def blocks(self, problem: Targets) -> int:
        """One for each part of each target."""
        across, down = ceil_div(problem.width, self.threads_x), ceil_div(problem.height, self.tile_height)
        return problem.batch * across * down

    def footprint(self, problem: Targets) -> Footprint:
        """Filters of rows and columns, and the rows of the picture that are narrow."""
        filters = (self.threads_x + self.tile_height) * _FILTER_BYTES
        levels = self.threads * self.together * CHANNELS * _LEVEL_BYTES
        shared = round_up(_PLACE_BYTES + filters + levels, 8)
        return Footprint(self.threads, shared, _REGISTERS + CHANNELS * (self.rows + self.together))
