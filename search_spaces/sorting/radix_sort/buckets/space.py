"""radix_sort: schedules of one pass and a block for each digit, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.sorting.radix_sort.buckets.schedule import BucketsSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.sorting.radix_sort.fitting import with_digits, within_sm
from autotune.search_spaces.sorting.radix_sort.onesweep.space import constraints as of_passes

_LEAST_KEYS, _MOST_KEYS = (
    1 << 14,
    1 << 22,
)  # of all rows: fewer take a block or a cluster, more are not bound by launches
_MOST_BYTES = 8  # of a value, which a thread holds
_FULL = 0.85  # of a tile, that a digit of random keys has at most
_TILES = ((512, 11, 2, 8), (1024, 6, 1, 8), (512, 8, 2, 8), (256, 11, 2, 8), (512, 16, 2, 8), (1024, 8, 1, 16))


def constraints(problem: RadixSortProblem, schedule: BucketsSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from of_passes(problem, schedule, spec)
    yield from footprint_violations(spec, schedule.bucket_footprint(problem))
    if problem.order_only or problem.values.bytes > _MOST_BYTES:
        yield f"values={problem.values}, order_only={problem.order_only}: expected keys, and values of 8 bytes at most"
    if schedule.passes(problem) < 2:
        yield f"digit_bits {schedule.digit_bits}: expected more than one digit of a key"
    if schedule.tile > 1 << 16:
        yield f"threads {schedule.threads}, items {schedule.items}: expected 65536 keys at most"


def applies(problem: RadixSortProblem, spec: DeviceSpec) -> bool:
    """Whether it is worth while: rows of many keys, but not of so many that digits outgrow blocks."""
    keys = problem.rows * problem.columns
    return (
        not problem.order_only
        and problem.values.bytes <= _MOST_BYTES
        and problem.last_bit - problem.begin_bit > BucketsSchedule().digit_bits
        and _LEAST_KEYS <= keys <= _MOST_KEYS
        and problem.columns >= _LEAST_KEYS
    )


def space(problem: RadixSortProblem, spec: DeviceSpec) -> Space[BucketsSchedule]:
    """All fields are drawn."""

    def build(draw: Draw) -> BucketsSchedule:
        return within_sm(problem, with_digits(BucketsSchedule.from_dict(draw)), spec)

    return Space(field_parameters(BucketsSchedule), build)


def candidates(problem: RadixSortProblem, spec: DeviceSpec) -> Iterator[BucketsSchedule]:
    """Tiles that hold the keys of a digit, if these are random."""
    expected = problem.columns / BucketsSchedule().bins
    enough = [one for one in _TILES if expected <= _FULL * one[0] * one[1]]
    for threads, items, blocks, window in sorted(enough, key=lambda one: one[0] * one[1]):
        one = BucketsSchedule(threads, items, min_blocks_per_sm=blocks, window=window)
        yield within_sm(problem, one, spec)
