"""NmsProblem and its schedules → Program."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Counting, Repeat
from autotune.codegen.model.program import Program
from autotune.codegen.sorting.radix_sort.emit import emit_onesweep
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.codegen.sorting.radix_sort.problem import ArgsortProblem, RadixSortProblem
from autotune.codegen.sorting.values import Values
from autotune.codegen.source.kernel_source import Entry, KernelSource, using

from .block.schedule import BlockSchedule
from .buckets.schedule import BUCKETS, PART_TILES, BucketsSchedule
from .chunks.schedule import ChunksSchedule
from .layout import ENTRY_BYTES, KNOWN_WORDS, MASK_BYTES, TILE, candidate_bytes
from .problem import CORNERS, Classes, NmsProblem

_THREADS, _MANY_THREADS, _MANY = 128, 1024, 4096  # of a block of the plain kernel; for images of so many boxes
_SORT = OnesweepSchedule(threads=256, items=8)
_CORNERS_BYTES = 4 * CORNERS


def emit_block(problem: NmsProblem, schedule: BlockSchedule) -> Program:
    """A launch of a block for each image."""
    return source_of(problem).scheduled(schedule, "block/block")


def emit_chunks(problem: NmsProblem, schedule: ChunksSchedule) -> Program:
    """A sort of the scores, and two launches for each chunk of boxes in order."""
    ids = ["sorted_ids", "chosen_ids"] if problem.classes is not Classes.NONE else []
    members = [
        Argument("keys", "unsigned*"),
        Argument("order", "int*"),
        *(Argument(name, "void*") for name in ("sorted_corners", "chosen_corners", *ids)),
        *(Argument(name, "unsigned*") for name in ("dead", "masks")),
        Argument("chosen_count", "int*"),
        Argument("first", "int"),
    ]
    plain = Footprint(schedule.threads)
    entries = (
        Entry("nms_gather", "gather_boxes", schedule.gather_blocks(problem), plain),
        Entry("nms_compare", "compare_boxes", schedule.compare_blocks(problem), plain),
        Entry("nms_choose", "choose_of_chunk", problem.images, schedule.sweep_footprint()),
    )
    program = source_of(problem, *members).scheduled(schedule, "chunks/chunks", "write_keys", *entries)
    keys, gather, *of_chunk = program.launches
    turn = tuple(launch.taking(first=Counting(0, schedule.chunk)) for launch in of_chunk)
    program = replace(program, steps=(keys,)).then(_sort(problem))
    program = replace(program, steps=(*program.steps, gather, Repeat(schedule.chunks(problem), turn)))
    boxes, chosen = problem.images * problem.candidates, problem.images * min(schedule.chunk, problem.candidates)
    id_bytes = candidate_bytes(problem) - _CORNERS_BYTES
    parts = {"keys": 4 * boxes, "order": 4 * boxes, "chosen_count": 4 * problem.images}
    parts |= {"dead": MASK_BYTES * problem.images * ceil_div(problem.candidates, TILE)}
    parts |= {"sorted_corners": _CORNERS_BYTES * boxes, "chosen_corners": _CORNERS_BYTES * chosen}
    parts |= {"masks": problem.images * schedule.mask_bytes(problem.candidates)}
    parts |= dict(zip(ids, (id_bytes * boxes, id_bytes * chosen), strict=False))
    return program.in_workspace(**{name: max(1, size) for name, size in parts.items()})


def emit_buckets(problem: NmsProblem, schedule: BucketsSchedule) -> Program:
    """Sorts by scores and by classes, a launch that goes through the boxes of each class, and one for the results."""
    pointers = {"keys": "unsigned*", "order": "int*", "sorted_corners": "void*", "sorted_ids": "void*"}
    pointers |= {"buckets": "unsigned char*", "sorted_buckets": "unsigned char*", "by_bucket": "int*", "begins": "int*"}
    pointers |= {"chosen": "unsigned*", "dead": "unsigned*", "kept_of_bucket": "int*", "kept_of_window": "int*"}
    members = [*(Argument(name, kind) for name, kind in pointers.items()), Argument("first", "int")]
    plain = Footprint(schedule.threads)
    entries = (
        Entry("nms_buckets", "write_buckets", schedule.blocks(problem), plain),
        Entry("nms_gather", "gather_boxes", schedule.gather_blocks(problem), plain),
        Entry("nms_sweep", "sweep_window", schedule.sweep_blocks(problem, 0), schedule.sweep_footprint(problem)),
        Entry("nms_compare", "compare_behind", schedule.compare_blocks(problem), plain),
        Entry("nms_write", "write_kept", schedule.write_blocks(problem), schedule.write_footprint()),
    )
    facts = {"bucket_count": BUCKETS, "part_tiles": PART_TILES}
    program = source_of(problem, *members).scheduled(schedule, "buckets/buckets", "write_keys", *entries, facts=facts)
    keys, buckets, gather, sweep, compare, write = program.launches
    others = replace(sweep, grid=(schedule.sweep_blocks(problem, schedule.window), 1, 1))
    behind = (
        compare.taking(first=Counting(0, schedule.window)),
        others.taking(first=Counting(schedule.window, schedule.window)),
    )
    swept = sweep.taking(first=0), Repeat(schedule.windows(problem) - 1, behind)
    program = replace(program, steps=(keys,)).then(_sort(problem))
    program = replace(program, steps=(*program.steps, buckets)).then(_sort_by_buckets(problem))
    program = replace(program, steps=(*program.steps, gather, *swept, write))
    boxes, tiles = problem.images * problem.candidates, problem.images * ceil_div(problem.candidates, TILE)
    parts = {"keys": 4 * boxes, "order": 4 * boxes, "buckets": boxes, "sorted_buckets": boxes, "by_bucket": 4 * boxes}
    parts |= {"sorted_corners": _CORNERS_BYTES * boxes, "sorted_ids": problem.classes.dtype.bytes * boxes}
    parts |= {"begins": 4 * problem.images * (BUCKETS + 1), "chosen": MASK_BYTES * tiles, "dead": MASK_BYTES * tiles}
    parts |= dict.fromkeys(("kept_of_bucket", "kept_of_window"), 4 * problem.images * BUCKETS)
    return program.in_workspace(**{name: max(1, size) for name, size in parts.items()})


def _sort(problem: NmsProblem) -> Program:
    """``order`` of ``keys``, the largest first, equal ones by their indices."""
    sorting = ArgsortProblem(problem.candidates, problem.images, DType.UINT32, Values.INDEX32, descending=True)
    return emit_onesweep(sorting, _SORT).taking(values_out="order")


def _sort_by_buckets(problem: NmsProblem) -> Program:
    """``by_bucket``: the boxes' places in the order of scores, those of the first bucket first."""
    sorting = RadixSortProblem(problem.candidates, problem.images, DType.UINT8, Values.INDEX32)
    return emit_onesweep(sorting, _SORT).taking(keys="buckets", keys_out="sorted_buckets", values_out="by_bucket")


def emit_naive(problem: NmsProblem) -> Program:
    """A block for each image, and a round through its boxes for each that is kept."""
    gone = Argument("gone", "unsigned char*")
    threads = _MANY_THREADS if problem.candidates >= _MANY else _THREADS
    shared = threads // WARP * ENTRY_BYTES
    call = f"nms_naive<{threads}>(arguments);"
    how = ", a round through the boxes for each that is kept"
    program = source_of(problem, gone).plain(how, problem.images * threads, call, block=threads, shared_bytes=shared)
    return program.in_workspace(gone=max(1, problem.images * problem.candidates))


def source_of(problem: NmsProblem, *members: Argument) -> KernelSource:
    """`members` follow the thresholds in ``struct Arguments``."""
    classed = problem.classes is not Classes.NONE
    ids = {"ClassId": problem.classes.dtype} if classed else {}
    return KernelSource(
        "nms",
        "vision/nms",
        problem,
        types=using(Element=DType(problem.dtype), **ids),
        facts={"vector_width": problem.vector_width, "tile": TILE, "known_words": KNOWN_WORDS},
        conditions={"classed": classed},
        scalars=[*(Argument(name, "float") for name in problem.scalars), *members],
    )
