"""What the blocks of a radix_sort schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

from autotune.codegen.model.hardware import LINE_BYTES, SCHEDULERS, SECTOR_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.sorting.radix_sort.block.schedule import BlockSchedule
from autotune.codegen.sorting.radix_sort.cluster.schedule import ClusterSchedule
from autotune.codegen.sorting.radix_sort.match import Match
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.workload import Workload

_COUNTED = 8  # keys of a thread that counts, at once
_CLUSTER_HOPS = 3  # what waits in a pass of a cluster take, in looks at earlier tiles
_EXCHANGES = 4  # accesses of a key to shared memory at random: its count, its place, where it goes, and its digit's


@dataclass(frozen=True)
class Costs(Coefficients, section="radix_sort"):
    """What the instructions and the waits of a sort take.

    Attributes:
        key: instructions of 32 keys in a pass, beside those that compare their digits.
        bit: instructions that compare a bit of 32 digits.
        match_any: instructions that the hardware's comparison of 32 digits is worth.
        ordered: instructions that make 32 floats comparable, each time that their digits are taken.
        value: instructions of 32 values in a pass.
        bin: instructions of a warp's count of 32 digits, to be summed and placed.
        thread: instructions of a thread that begins and ends, barriers included.
        conflict: clocks that 32 accesses to shared memory at random take.
        counted: instructions that count a digit of 32 keys.
        hop: clocks of a look at earlier tiles.
        hops: looks that find what precedes a tile, of one earlier tile each.
    """

    key: float
    bit: float
    match_any: float
    ordered: float
    value: float
    bin: float
    thread: float
    conflict: float
    counted: float
    hop: float
    hops: float


def onesweep_workload(
    problem: RadixSortProblem, schedule: OnesweepSchedule, spec: DeviceSpec
) -> tuple[Workload, Workload]:
    """The launch that counts, and the passes."""
    costs, footprint = Costs.of(spec), schedule.footprint(problem)
    keys, key, value = problem.rows * problem.columns, problem.dtype.bytes, problem.carried_bytes
    passes, tiles = schedule.passes(problem), schedule.blocks(problem)
    counting, pieces = schedule.histogram_footprint(problem), problem.rows * schedule.pieces(problem)
    warps = counting.threads // WARP
    turns = ceil_div(keys, max(1, pieces) * counting.threads * _COUNTED)
    vectors = warps * _COUNTED
    digits = vectors * passes
    counts = Workload(
        blocks=pieces,
        footprint=counting,
        memory_bytes=keys * key,
        steps=turns,
        instructions=vectors * (costs.ordered * problem.dtype.is_float + 4) + digits * costs.counted,
        load_instructions=vectors * 4,
        shared_clocks=digits * max(1.0, costs.conflict / schedule.histogram_copies**0.5),
        lines=vectors * max(1.0, WARP * key / LINE_BYTES),
        bytes_loaded=vectors * WARP * key,
        bytes_stored=passes * schedule.bins * SECTOR_BYTES / 4,
    )
    resident = max(1, blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes))
    waits = costs.hop * max(1.0, costs.hops / schedule.window) / resident * SCHEDULERS
    words = 2 * 2 * 4 * schedule.bins  # bytes that a tile leaves, and others read
    runs = schedule.tile / schedule.bins * key  # bytes that go to one place
    torn = 1 + SECTOR_BYTES / max(1.0, runs)
    pass_ = _pass(problem, schedule, costs)
    sweep = replace(
        pass_,
        blocks=tiles,
        footprint=footprint,
        memory_bytes=2 * keys * (key + value) + 2 * tiles * words,
        instructions=pass_.instructions + waits,
        bytes_loaded=schedule.tile * (key + value) + words * costs.hops,
        bytes_stored=schedule.tile * (key + value) * torn + words,
        repeat=passes,
    )
    return counts, sweep


def block_workload(problem: RadixSortProblem, schedule: BlockSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """All passes over a row."""
    costs, row = Costs.of(spec), problem.columns
    moved = problem.tensor_bytes / max(1, problem.rows)
    passes = ceil_div(problem.last_bit - problem.begin_bit, schedule.digit_bits)
    pass_ = _pass(problem, schedule, costs)
    return (
        replace(
            pass_,
            blocks=problem.rows,
            footprint=schedule.footprint(problem),
            memory_bytes=problem.tensor_bytes,
            instructions=passes * pass_.instructions,
            shared_clocks=passes * pass_.shared_clocks,
            lines=ceil_div(floor(moved), LINE_BYTES),
            bytes_loaded=row * problem.dtype.bytes,
            bytes_stored=moved - row * problem.dtype.bytes,
        ),
    )


def cluster_workload(problem: RadixSortProblem, schedule: ClusterSchedule, spec: DeviceSpec) -> tuple[Workload]:
    """All passes over a part of a row; in each, blocks wait for each other, and keys go to shared memory twice more."""
    costs, parts = Costs.of(spec), max(1, schedule.blocks(problem))
    moved, read = problem.tensor_bytes / parts, problem.rows * problem.columns * problem.dtype.bytes / parts
    passes = ceil_div(problem.last_bit - problem.begin_bit, schedule.digit_bits)
    pass_, vectors = _pass(problem, schedule, costs), schedule.tile // WARP
    sent = vectors * costs.conflict * (2 + 2 * bool(problem.carried_bytes))
    return (
        replace(
            pass_,
            blocks=parts,
            footprint=schedule.footprint(problem),
            memory_bytes=problem.tensor_bytes,
            instructions=passes * (pass_.instructions + _CLUSTER_HOPS * costs.hop * SCHEDULERS),
            shared_clocks=passes * (pass_.shared_clocks + sent),
            lines=ceil_div(floor(moved), LINE_BYTES),
            bytes_loaded=read,
            bytes_stored=moved - read,
        ),
    )


def _pass(problem: RadixSortProblem, schedule: BlockSchedule | OnesweepSchedule, costs: Costs) -> Workload:
    """The instructions and the shared memory of a tile in a pass."""
    warps, vectors = schedule.threads // WARP, schedule.tile // WARP
    compared = costs.match_any if schedule.match is Match.MATCH_ANY else costs.bit * schedule.digit_bits
    key = costs.key + compared + 2 * costs.ordered * problem.dtype.is_float
    value = costs.value if problem.carried_bytes else 0
    table = warps * costs.bin * ceil_div(schedule.bins, WARP)
    return Workload(
        blocks=1,
        footprint=schedule.footprint(problem),
        memory_bytes=0,
        instructions=vectors * (key + value) + table + warps * costs.thread,
        load_instructions=vectors * (2 + 2 * bool(value)),
        shared_clocks=vectors * (_EXCHANGES + 2 * bool(value)) * costs.conflict,
        lines=vectors * 2 * max(1.0, WARP * (problem.dtype.bytes + problem.carried_bytes) / LINE_BYTES),
    )
