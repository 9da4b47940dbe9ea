"""letterbox: schedules with rows of the picture in shared memory, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LEAST_COPY
from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.staged.schedule import StagedSchedule, first_staged
from autotune.codegen.vision.letterbox.target import Order, Targets
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.vision.letterbox.pixels import rule_violations, store_violations

_SPECS = field_specs(StagedSchedule)
_SEGMENTS: tuple[int, ...] = _SPECS["segment"].values
_COPIES: tuple[int, ...] = _SPECS["copy_bytes"].values
_PIXELS: tuple[int, ...] = _SPECS["pixels"].values
_WARPS_PER_SM = 32  # so that the last ones to begin are few; by an H200


def constraints(problem: Targets, schedule: StagedSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from rule_violations(problem)
    yield from store_violations(problem, schedule.pixels)
    if not (aligned := problem.row_alignment):
        yield f"rows of the pictures cannot be copied: expected packed pixels, aligned to {LEAST_COPY} B at both ends"
    if aligned % schedule.copy_bytes:
        yield f"copy_bytes {schedule.copy_bytes} over the {aligned} B that rows of the pictures are aligned to"
    if (needed := schedule.segment_needed(problem)) > schedule.segment and not problem.mixed:
        yield f"segment {schedule.segment} below the {needed} B of a row of the picture that a warp needs"


def _legal_pixels(problem: Targets) -> tuple[int, ...]:
    """Those that are stored together everywhere, and for which a segment has room; the widest one last."""
    stored = [pixels for pixels in _PIXELS if pixels <= problem.widest]
    return tuple(pixels for pixels in stored if StagedSchedule(pixels=pixels).segment_needed(problem) <= _SEGMENTS[-1])


def applies(problem: Targets, spec: DeviceSpec) -> bool:
    """Whether rows of packed pixels can be copied, and there is room for them."""
    return first_staged(problem) is not None


def space(problem: Targets, spec: DeviceSpec) -> Space[StagedSchedule]:
    """Copies as wide as rows are aligned; segments follow."""
    copies = tuple(some for some in _COPIES if problem.row_alignment % some == 0)
    parameters = field_parameters(StagedSchedule, pixels=_legal_pixels(problem), copy_bytes=copies)

    def build(draw: Draw) -> StagedSchedule:
        return StagedSchedule.from_dict(draw).with_room(problem)

    return Space(tuple(one for one in parameters if one.name != "segment"), build)


def candidates(problem: Targets, spec: DeviceSpec) -> Iterator[StagedSchedule]:
    """The usual pixels of a thread, as many rows as leave enough warps, and wide copies, then others."""
    copied = max(some for some in _COPIES if problem.row_alignment % some == 0)
    usual = _usual_pixels(problem)
    widths = sorted(_legal_pixels(problem), key=lambda pixels: (pixels > usual, -pixels))
    narrow = StagedSchedule(1, widths[0])
    enough = _WARPS_PER_SM * spec.sm_count
    most = next((rows for rows in (16, 8, 4) if narrow.replace(rows=rows).blocks(problem) >= enough), 2)
    heights = sorted((2, 4, 8, 16, 32), key=lambda rows: (rows != most, rows))
    for pixels, rows, stages, warps in product(widths, heights, (2, 3), (4, 8)):
        yield StagedSchedule(warps, pixels, rows, stages, copy_bytes=copied).with_room(problem)
    yield StagedSchedule(4, widths[0], most, keeps=True, copy_bytes=copied).with_room(problem)


def _usual_pixels(problem: Targets) -> int:
    """By an H200: those of a picture that is enlarged are close to each other."""
    return 8 if problem.enlarges and problem.order is Order.NCHW else 4


def checks(problem: LetterboxProblem, schedule: StagedSchedule) -> list[tuple[LetterboxProblem, StagedSchedule]]:
    """A target of one part, of a larger picture; and of some parts that is no multiple of them, with gaps."""
    few = schedule.replace(warps=min(2, schedule.warps), rows=min(8, schedule.rows))
    kinds: dict[str, Any] = {**problem.kinds, "align_target": problem.align_target}
    whole = LetterboxProblem(24, 64, few.rows, few.tile_width, **kinds)
    kinds |= {"batch": 2, "stride_images_h": 64}
    edges = LetterboxProblem(23, 20, few.rows + 3, few.tile_width + few.pixels, **kinds)
    return [(one, few.with_room(one)) for one in (whole, edges)]
