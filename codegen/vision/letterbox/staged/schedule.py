"""How to fit pictures into a target by warps with rows of the picture in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.letterbox.target import CHANNELS, Order, Targets

_READ_AHEAD = 12  # bytes from a column on that are read for it, as words
_REGISTERS = 48
_SEGMENTS = (256, 512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 6144)


@dataclass(frozen=True)
class StagedSchedule(Schedule):
    """A warp has some columns of a target, and goes through rows of it.

    The parts of the picture's rows that make these arrive ahead of it in shared memory.

    Attributes:
        warps: of a block.
        pixels: neighbours of a thread, which it stores together.
        rows: of a warp.
        stages: rows of the target whose parts of the picture are in shared memory at once.
        segment: bytes that there is room for of a row of the picture.
        keeps: whether rows of the picture, already mixed across, are kept for the next row of the target.
        copy_bytes: that one copy brings to shared memory.
    """

    kernel = "staged"

    warps: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    pixels: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    rows: int = tunable(16, values=(2, 4, 8, 16, 32), allowed=(1, 2, 4, 8, 16, 32))
    stages: int = tunable(2, values=(2, 3, 4), least=2)
    segment: int = tunable(1536, values=_SEGMENTS, least=16)
    keeps: bool = tunable(False, values=(False, True))
    copy_bytes: int = tunable(16, values=(4, 8, 16), allowed=(4, 8, 16))

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.warps * WARP

    @property
    def tile_width(self) -> int:
        """Columns of a warp."""
        return self.pixels * WARP

    def tile_sizes(self, problem: Targets) -> dict[str, int]:
        """See `Schedule`."""
        return {"height": self.rows, "width": self.tile_width}

    def blocks(self, problem: Targets) -> int:
        """A warp for each part of each target."""
        parts = ceil_div(problem.width, self.tile_width) * ceil_div(problem.height, self.rows)
        return ceil_div(problem.batch * parts, self.warps)

    def segment_needed(self, problem: Targets) -> int:
        """Bytes of a row of the picture that make the columns of a warp, with those that are copied besides."""
        read = CHANNELS * problem.reached(self.tile_width) + _READ_AHEAD
        return (ceil_div(read, self.copy_bytes) + 1) * self.copy_bytes

    def with_room(self, problem: Targets) -> StagedSchedule:
        """The same with the smallest segment that is large enough, or the largest one."""
        needed = self.segment_needed(problem)
        return self.replace(segment=next((some for some in _SEGMENTS if some >= needed), _SEGMENTS[-1]))

    def warp_bytes(self, problem: Targets) -> int:
        """Two rows of the picture for each of the target; in NHWC, a row of the target, which lanes exchange."""
        exchanged = CHANNELS * self.tile_width * problem.dtype.bytes if problem.order is Order.NHWC else 0
        return self.stages * 2 * self.segment + exchanged

    def footprint(self, problem: Targets) -> Footprint:
        """What its warps take."""
        return Footprint(self.threads, self.warps * self.warp_bytes(problem), _REGISTERS + 6 * self.pixels)


def first_staged(problem: Targets) -> StagedSchedule | None:
    """Wide copies and stores, up to 4 pixels, as far as there is room; none where rows cannot be copied."""
    if problem.rule.filtered or not problem.row_alignment:
        return None
    for pixels in (4, 2, 1):
        schedule = StagedSchedule(pixels=pixels, copy_bytes=problem.row_alignment).with_room(problem)
        if pixels <= problem.widest and schedule.segment_needed(problem) <= schedule.segment:
            return schedule
    return None
