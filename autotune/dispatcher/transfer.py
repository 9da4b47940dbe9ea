"""What a record promises for another problem: its time there by waves and tile waste, and how far it is.

A kernel ends when the SM that has the most blocks ends. Its time is therefore taken to go with the blocks of that SM
and with the steps that each of them makes along k, tiles and waves that are partly empty counted as if they were full.
"""

from __future__ import annotations

from math import hypot, log, prod

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..devices.model import LAUNCH_SECONDS
from ..search_spaces.limits import DeviceLimits
from .records import Record

SIZES = ("m", "n", "k", "batch")  # fields of problems that say how much there is to do
LAYOUT = ("transpose_a", "transpose_b", "element_bytes")  # fields whose change makes it another kind of kernel
FARTHEST = 8  # ratio of two sizes beyond which a record says less about a problem than the time model does
_DOUBT = 0.2  # of the logarithm of a time, for each e-fold between the sizes: a time from twice as far counts 15 % more


def comparable(problem: Problem, record: Record) -> bool:
    """Whether a record is of the same layout and of sizes within a factor of 8."""
    same_layout = all(getattr(problem, name, None) == getattr(record.problem, name, None) for name in LAYOUT)
    return same_layout and max(_ratios(problem, record.problem)) <= log(FARTHEST)


def transferred_seconds(problem: Problem, record: Record, limits: DeviceLimits) -> float:
    """The time of a record's schedule on another problem."""
    fixed = min(LAUNCH_SECONDS, record.seconds)
    here, there = (steps(any_problem, record.schedule, limits) for any_problem in (problem, record.problem))
    return fixed + (record.seconds - fixed) * here / max(1, there)


def distance(problem: Problem, record: Record, limits: DeviceLimits) -> float:
    """How little a record promises for a problem: 0 for its own size at the device's peak rates.

    The logarithm of its transferred time over the roofline's (Williams, Waterman, Patterson: Roofline, CACM 2009), in
    which waves and tile waste show, and a share of the distance between the logarithms of the sizes, with which
    such a time becomes doubtful.
    """
    least = max(problem.flops / limits.peak_flops, problem.bytes_moved / limits.bandwidth, 1e-9)
    slowness = log(transferred_seconds(problem, record, limits) / least)
    return slowness + _DOUBT * hypot(*_ratios(problem, record.problem))


def loss(problem: Problem, record: Record, limits: DeviceLimits) -> float:
    """The share of the transferred time that waves and tiles waste here beyond what they waste where it was found."""
    here, there = (
        steps(any_problem, record.schedule, limits) / max(1, prod(_size(any_problem, size) for size in SIZES))
        for any_problem in (problem, record.problem)
    )
    return 1 - there / here if here > there else 0.0


def steps(problem: Problem, schedule: Schedule, limits: DeviceLimits) -> int:
    """Tiles along k that the SM with the most blocks goes through; of operators without k, its blocks."""
    split = getattr(schedule, "split_k", 1)
    blocks = _tiles(problem, schedule, "m") * _tiles(problem, schedule, "n") * _size(problem, "batch") * split
    return -(-blocks // limits.sm_count) * -(-_tiles(problem, schedule, "k") // split)


def _tiles(problem: Problem, schedule: Schedule, size: str) -> int:
    """How many tiles of a block there are along a size, the last one perhaps partly empty."""
    extent: int = getattr(schedule, f"block_{size}", getattr(schedule, f"tile_{size}", 1))
    return -(-_size(problem, size) // extent)


def _size(problem: Problem, size: str) -> int:
    extent: int = getattr(problem, size, 1)
    return extent


def _ratios(problem: Problem, other: Problem) -> list[float]:
    """By which factor each size differs, as logarithms of at least 0."""
    return [abs(log(max(1, _size(problem, size)) / max(1, _size(other, size)))) for size in SIZES]
