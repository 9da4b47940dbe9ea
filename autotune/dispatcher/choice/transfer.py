"""What a record promises for another problem: its time there by waves and tile waste, and how far it is.

A kernel ends when the SM that has the most blocks ends. Its time is therefore taken to go with the blocks of that SM
and with the steps that each of them makes along k, tiles that are partly empty counted as if they were full.
`export/selector.hpp` is the twin in C++; a test compares them.
"""

from __future__ import annotations

from math import exp, log, prod, sqrt

from ...codegen.integers import ceil_div
from ...codegen.problem import Problem
from ...codegen.schedule import Schedule
from ...devices.roofline import roofline
from ...search_spaces.device_spec import DeviceSpec
from .records import Record

SIZES = ("m", "n", "k", "batch")  # fields of problems that say how much there is to do
LAYOUT = ("transpose_a", "transpose_b", "element_bytes")  # fields whose change makes it another kind of kernel
FARTHEST = 8  # ratio of two sizes beyond which a record says less about a problem than the time model does
HIDING = 8.0  # the rate of the exponential by which registers in use hide latency
DOUBT = 0.4  # of the logarithm of a time, for each e-fold between the sizes: a time from twice as far counts 32 % more


def comparable(problem: Problem, record: Record) -> bool:
    """Whether a record is of the same layout and of sizes within a factor of 8."""
    same_layout = all(getattr(problem, name, None) == getattr(record.problem, name, None) for name in LAYOUT)
    return same_layout and max(_ratios(problem, record.problem)) <= log(FARTHEST)


def transferred_seconds(problem: Problem, record: Record, limits: DeviceSpec) -> float:
    """The time of a record's schedule on another problem."""
    here, there = (fixed_seconds(_shared(any_problem, record.schedule)) for any_problem in (problem, record.problem))
    fixed = min(there, record.seconds)
    return fixed * (here / there) + (record.seconds - fixed) * _more_work(problem, record, limits)


def distance(problem: Problem, record: Record, limits: DeviceSpec) -> float:
    """How little a record promises for a problem: 0 for its own size at the device's peak rates.

    The logarithm of its transferred time over the roofline's, in which waves and tile waste show, and a share of the
    distance between the logarithms of the sizes, with which such a time becomes doubtful.
    """
    squares = 0.0
    for ratio in _ratios(problem, record.problem):  # one after the other, as in C++: sum() is more exact
        squares += ratio * ratio
    return slowness(problem, transferred_seconds(problem, record, limits), limits) + DOUBT * sqrt(squares)


def slowness(problem: Problem, seconds: float, limits: DeviceSpec) -> float:
    """The logarithm of a time over the roofline's: 0 at the device's peak rates."""
    return log(seconds / roofline_seconds(problem, limits))


def roofline_seconds(problem: Problem, limits: DeviceSpec) -> float:
    """The time at the device's peak rates, but never 0, which has no logarithm."""
    return max(roofline(problem, limits), 1e-9)


def loss(problem: Problem, record: Record, limits: DeviceSpec) -> float:
    """The share of the transferred time that waves and tiles waste here beyond what they waste where it was found."""
    here, there = (prod(_size(any_problem, size) for size in SIZES) for any_problem in (problem, record.problem))
    return max(0.0, 1 - here / max(1, there) / max(_more_work(problem, record, limits), 1e-9))


def _more_work(problem: Problem, record: Record, limits: DeviceSpec) -> float:
    """How many times as long the SM that has the most blocks works on a problem as on the record's own.

    Where it has fewer blocks at once, it hides less latency. That it hides more where it has more is not believed: for
    66 shapes of an H200 the best of the other records then promise 20 % less than was reached, in the median, and 3 %
    otherwise.
    """
    schedule = record.schedule
    here, there = (_blocks(any_problem, schedule, limits) for any_problem in (problem, record.problem))
    longer = _steps(problem, schedule) / max(1, _steps(record.problem, schedule))
    return longer * max(
        here / max(1, there),
        _busy(here, record.registers, limits) / max(1, _busy(there, record.registers, limits)),
    )


def _blocks(problem: Problem, schedule: Schedule, limits: DeviceSpec) -> int:
    """Blocks of the SM that has the most."""
    return ceil_div(_grid(schedule) or _tiles_mn(problem, schedule) * _cluster(schedule), limits.sm_count)


def _steps(problem: Problem, schedule: Schedule) -> int:
    """Tiles along k that a block goes through, where blocks share them its part; 1 of operators without k."""
    along_k, cluster = _tiles(problem, schedule, "k"), _cluster(schedule)
    clusters = _grid(schedule) // cluster
    steps = ceil_div(_tiles_mn(problem, schedule) * along_k, clusters) if clusters else along_k
    return ceil_div(steps, cluster)


def _grid(schedule: Schedule) -> int:
    """Blocks of a grid of its own size; 0 where each tile has its block."""
    blocks: int = getattr(schedule, "grid_blocks", 0)
    return blocks


def _shared(problem: Problem, schedule: Schedule) -> bool:
    """Whether clusters have to add up what they share of a tile."""
    clusters = _grid(schedule) // _cluster(schedule)
    return clusters > 0 and _tiles_mn(problem, schedule) % clusters != 0


def _cluster(schedule: Schedule) -> int:
    """Blocks that share each of their tiles along k."""
    blocks: int = getattr(schedule, "cluster_k", 1)
    return blocks


def _tiles_mn(problem: Problem, schedule: Schedule) -> int:
    return _tiles(problem, schedule, "m") * _tiles(problem, schedule, "n") * _size(problem, "batch")


def _busy(blocks: int, registers: int, limits: DeviceSpec) -> float:
    """How long an SM works on blocks of so many registers, in times of a block at the peak rate."""
    if registers == 0:
        return blocks
    resident = max(1, limits.registers_per_sm // registers)
    waves, rest = divmod(blocks, resident)
    full = resident / _hidden(resident * registers, limits)
    return waves * full + (rest / _hidden(rest * registers, limits) if rest else 0.0)


def _hidden(registers: int, limits: DeviceSpec) -> float:
    """The share of its peak rate that an SM reaches with so many registers in use."""
    return 1 - exp(-HIDING * registers / limits.registers_per_sm)


def fixed_seconds(shared: bool) -> float:
    """What a launch costs however little it computes."""
    return 7e-6 if shared else 4e-6


def _tiles(problem: Problem, schedule: Schedule, size: str) -> int:
    """How many tiles of a block there are along a size, the last one perhaps partly empty."""
    return ceil_div(_size(problem, size), _extent(schedule, size))


def _extent(schedule: Schedule, size: str) -> int:
    extent: int = getattr(schedule, f"block_{size}", getattr(schedule, f"tile_{size}", 1))
    return extent


def _size(problem: Problem, size: str) -> int:
    extent: int = getattr(problem, size, 1)
    return extent


def _ratios(problem: Problem, other: Problem) -> list[float]:
    """By which factor each size differs, as logarithms of at least 0."""
    return [abs(log(max(1, _size(problem, size)) / max(1, _size(other, size)))) for size in SIZES]
