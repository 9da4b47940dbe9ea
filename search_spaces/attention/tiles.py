"""What schedules of several kernels of attention, and of its gradients, have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from autotune.codegen.attention.attention.emit import stored_vector
from autotune.codegen.attention.attention.parts import SPLITS, partials, sums_blocks, sums_footprint
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.fragmented import FragmentedProblem
from autotune.codegen.attention.fragments.extremes import extremes_blocks, extremes_footprint
from autotune.codegen.attention.packed import PackedProblem
from autotune.codegen.attention.problem import HeadProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import INT_MAX, ceil_div, largest, smallest
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.time_model import MachineCosts
from autotune.search_spaces.machine.workload import Workload

from .packed_sequences import longest_first, of_sequences

_L2_SHARE = 0.5  # of L2 that keys and values of heads may take whose tiles are taken together
_MOST_TOGETHER = 64
_LEAST_KEYS, _WORTHWHILE_KEYS = 128, 192  # of a part, if several blocks share the keys of a tile
_PARTS_OF_SECTOR = 4  # in which blocks that share keys store their sums: words, and rows that begin within sectors
_PARTS_OF_ELEMENTS = 12  # if elements are stored one by one: an SM stored 2 bytes in a clock, heads of 72 and of 256
_EMPTY_WAITS = 3  # loads, as long as a wave of blocks takes that store zeros: 16 blocks of an SM took 1.9 µs
_WAVES = 4  # of blocks that share keys, at most: more of them leave no SM idle either


def heads_in_l2(problem: HeadProblem, spec: DeviceSpec) -> int:
    """Heads whose keys and values L2 holds, where tiles of a head differ in what they see; a power of two."""
    if not problem.segmented and not longest_first(problem):
        return 1
    of_head = problem.keys * (problem.head_dim + problem.value_elements) * problem.dtype.bytes
    most = min(_L2_SHARE * spec.l2_bytes / max(1, of_head) * problem.group, _MOST_TOGETHER)
    together = 1
    while together < problem.all_heads and 2 * together <= most:
        together *= 2
    return together


def seen_keys(problem: HeadProblem, rows: int, keys: int) -> float:
    """Keys that a tile of so many queries goes through, in tiles of so many keys, on average."""
    if isinstance(problem, PackedProblem):
        return TileSteps.of(problem, rows, keys).average * keys
    if not problem.bounded_left and not problem.bounded_right:
        return ceil_div(problem.keys, keys) * keys
    seen = problem.usual_pairs / largest(1, _meeting(problem))
    if problem.bounded_left and problem.bounded_right:
        window = min(problem.window_left + max(1, problem.window_right) - 1, problem.keys)
        return ceil_div(min(window + rows - 1, problem.keys), keys) * keys * seen / max(1, window)
    cut = (problem.bounded_left + problem.bounded_right) * keys / 2 + (rows / 2 if problem.bounded_right else 0)
    return seen + cut


@dataclass(frozen=True)
class TileSteps:
    """Steps of blocks, of which each has tiles of queries, or of keys, and goes through tiles of the others.

    Tiles that meet no others count for themselves.

    Attributes:
        average: tiles of others that a tile goes through, 1 at least.
        longest: the same of the tile that goes through the most.
        tiles: of all heads.
        last: the share of tiles that come last, the longest first: of the last heads that are taken together.
        fall: steps that the last of all tiles goes through less than the longest.
        empty: tiles that meet no others, of all heads.
        filled: the share of a tile of others that is there.
    """

    average: float
    longest: float
    tiles: int
    last: float = 1.0
    fall: float = 0.0
    empty: int = 0
    filled: float = 1.0

    @classmethod
    def of(
        cls, problem: HeadProblem, rows: int, keys: int, splits: int = 1, *, packed: int = 1, together: int = 1
    ) -> Self:
        """Of tiles of so many rows, queries of as many heads as are packed, whose keys as many blocks share."""
        heads = problem.all_heads // packed
        if isinstance(problem, PackedProblem):
            return cls._of_packed(problem, (rows // packed, keys), splits, heads, together)
        if _uneven(problem):
            sizes = (problem.queries, problem.keys)
            return cls._of_uneven(problem, sizes, (rows // packed, keys), splits, heads, together)
        steps = max(1.0, seen_keys(problem, rows // packed, keys) / keys / splits)
        of_all = problem.row_tiles(rows, packed) * splits
        tiles = ceil_div(_meeting(problem), rows // packed) * heads * splits
        filled = smallest(1.0, problem.keys / (steps * keys * splits))
        return cls(steps, steps, tiles, empty=of_all - tiles, filled=filled)

    @classmethod
    def of_keys(cls, problem: HeadProblem, rows: int, queries: int, *, together: int = 1) -> Self:
        """Of tiles of so many keys, which go through the queries that see them, in tiles of so many queries."""
        if _uneven(problem):
            sizes, heads = (problem.keys, problem.queries), problem.all_heads // problem.group
            return cls._of_uneven(problem, sizes, (rows, queries), 1, heads, together)
        steps: float = ceil_div(problem.queries, queries)
        if problem.bounded_left or problem.segmented:
            steps = max(1.0, (problem.usual_pairs / max(1, problem.keys) + (rows + queries) / 2) / queries)
        return cls(steps, steps, problem.key_tiles(rows))

    @classmethod
    def _of_uneven(
        cls,
        problem: HeadProblem,
        sizes: tuple[int, int],
        tile: tuple[int, int],
        splits: int,
        heads: int,
        together: int,
    ) -> Self:
        """Of `tile` rows that are met, and that they meet, of `sizes` of each of some heads."""
        (rows, others), diagonal = tile, problem.queries + problem.high
        meeting, most = (largest(1, smallest(size, diagonal)) for size in sizes)
        average = (problem.usual_pairs / meeting + (rows + others) / 2) / others / splits
        longest = largest(1.0, most / others / splits)
        average = smallest(largest(1.0, average), longest)
        tiles, of_all = (ceil_div(count, rows) * heads * splits for count in (meeting, sizes[0]))
        fall, filled = 2 * (longest - average), smallest(1.0, most / (longest * others * splits))
        return cls(average, longest, tiles, _last(heads, together), fall, of_all - tiles, filled)

    @classmethod
    def _of_packed(cls, problem: PackedProblem, tile: tuple[int, int], splits: int, heads: int, together: int) -> Self:
        """Of `tile` queries and keys, of sequences of the problem's spread.

        Tiles in the order of their sequences may end with the longest one, half of all later than the first on average.
        """
        queries, others = tile
        tiles, average, longest, keys = of_sequences(problem, queries, others)
        if problem.bounded_left:
            window = problem.window_left + max(1, problem.window_right) - 1
            most = ceil_div(window + queries - 1, others)
            average, longest = average * most / (average**2 + most**2) ** 0.5, smallest(longest, most)
        longest = largest(1.0, longest / splits)
        average = smallest(largest(1.0, average / splits), longest)
        last, fall, filled = 1 / 2, longest - average, smallest(1.0, keys / (average * others * splits))
        if longest_first(problem):
            last, fall = _last(heads, together), smallest(longest, 2 * fall)
        return cls(average, longest, tiles * heads * splits, last, fall, filled=filled)

    def of_busiest(self, blocks: int, resident: int = 1) -> float:
        """Steps of the busiest of so many blocks, of which each takes the next tile when it is done with one.

        If all have `most` tiles or one less, some have `most` of those that are no shorter than the first of the last
        such round; lengths fall by the same from tile to tile. The heads that come last begin with their longest tile,
        which has an SM to itself at last that holds so many blocks.
        """
        most, share = ceil_div(self.tiles, max(1, blocks)), self.tiles / max(1, blocks)
        shared = self.average * share
        busy = largest(shared, most * (self.longest - self.fall * (most - 1) / share))
        end = smallest(most * self.longest, shared * (1 - self.last) + self.longest)
        return busy + largest(0.0, end - busy) / resident

    def of_block(self, resident: int, spec: DeviceSpec) -> float:
        """Steps of each block of a grid that has one for each tile, as if all had as many; an SM has so many at once.

        If all begin at once, those of an SM share the time of the longest.
        """
        of_sm = ceil_div(self.tiles, spec.sm_count)
        if of_sm > resident:
            return self.of_busiest(resident * spec.sm_count, resident) / ceil_div(of_sm, resident)
        return self.average + (self.longest - self.average) / max(1, of_sm)


def _meeting(problem: HeadProblem) -> int:
    """Queries of a head that see a key; 1 at least, if there are queries."""
    last = smallest(problem.queries, problem.keys - problem.low)
    return smallest(problem.queries, largest(1, last - largest(0, -problem.high)))


def _uneven(problem: HeadProblem) -> bool:
    """Whether the last queries of each head see the most keys, and the first ones few or none."""
    return longest_first(problem) and not problem.segmented


def _last(heads: int, together: int) -> float:
    """The share of heads that are taken together last."""
    return (heads - (ceil_div(heads, together) - 1) * together) / max(1, heads)


def empty_waits(of: TileSteps, footprint: Footprint, spec: DeviceSpec) -> float:
    """Loads that blocks wait for which meet no others, one wave after the other."""
    return _EMPTY_WAITS * of.empty / (resident_blocks(footprint, spec) * spec.sm_count)


def useful_splits(
    problem: AttentionProblem,
    rows: int,
    spec: DeviceSpec,
    *,
    packed: int = 1,
    waves: int = _WAVES,
    least_keys: int = _LEAST_KEYS,
) -> tuple[int, ...]:
    """How many blocks may share the keys of tiles of so many rows; 1 alone where tiles keep all SMs busy.

    Args:
        problem: what is computed.
        rows: of a tile.
        spec: the device.
        packed: heads whose queries they are.
        waves: blocks of an SM at most, if keys are shared.
        least_keys: of a part.
    """
    tiles = max(1, problem.row_tiles(rows, packed))
    most = min(waves * spec.sm_count // tiles, seen_keys(problem, 1, 1) // least_keys)
    return tuple(n for n in SPLITS if n <= max(1, most) and not any(too_many_splits(problem, n)))


def usual_splits(problem: AttentionProblem, rows: int, spec: DeviceSpec, packed: int = 1) -> int:
    """The most blocks that share the keys of a tile, if each has an SM, and keys that are worth another launch."""
    return useful_splits(problem, rows, spec, packed=packed, waves=1, least_keys=_WORTHWHILE_KEYS)[-1]


def too_many_splits(problem: AttentionProblem, splits: int) -> Iterator[str]:
    """Why blocks cannot leave what they make of so many parts."""
    if splits > 1 and partials(problem, splits) > INT_MAX:
        yield f"splits {splits}: {partials(problem, splits)} partial sums, expected {INT_MAX} at most"


def stored_bytes(problem: AttentionProblem, rows: float, splits: int) -> float:
    """Bytes that a tile of so many rows stores; see `Workload`."""
    if splits > 1:
        of_element = _PARTS_OF_SECTOR * WORD_BYTES
    else:
        of_element = problem.dtype.bytes * (_PARTS_OF_ELEMENTS if stored_vector(problem) == 1 else 1)
    return rows * problem.value_elements * of_element


def storing_clocks(stored: float, spec: DeviceSpec) -> float:
    """Clocks of an SM for so many bytes of a tile's results, which are part of what its steps take.

    What other blocks compute meanwhile is not taken to hide them. That lets blocks that stay promise as much as a block
    for each tile, and fits 75 times of an H100 better: logarithms of packed sequences' are off by 0.125, not 0.173, of
    gradients' by 0.115, not 0.125.
    """
    return stored / MachineCosts.of(spec).stored_bytes


def extremes_workload(problem: FragmentedProblem) -> tuple[Workload, ...]:
    """The launch ahead for a mask that reads integers, if there is one."""
    if not problem.ranged:
        return ()
    loaded = problem.integers_count * DType.INT32.bytes
    blocks = extremes_blocks(problem.integers_count)
    return (Workload(blocks, extremes_footprint(), loaded, bytes_loaded=loaded / blocks),)


def sums_workload(problem: AttentionProblem, splits: int) -> tuple[Workload, ...]:
    """The launch that adds what blocks leave which share the keys of a tile, if there is one. L2 holds that."""
    if splits == 1:
        return ()
    footprint = sums_footprint()
    loads = 3 * splits * footprint.threads // WARP / 2
    return (
        Workload(
            blocks=sums_blocks(problem),
            footprint=footprint,
            memory_bytes=0.0,
            steps=2,  # the largest logit, and then the sums
            instructions=4 * loads,
            load_instructions=2 * loads,
            bytes_loaded=splits * footprint.threads * DType.FLOAT32.bytes,
            bytes_stored=footprint.threads * problem.dtype.bytes,
        ),
    )
