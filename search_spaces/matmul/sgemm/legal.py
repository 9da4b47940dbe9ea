"""Which sgemm schedules are legal."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, FfmaOrder, SgemmSchedule, strip_width
from autotune.codegen.matmul.sgemm.transpose_first import product, transposed_first
from autotune.codegen.matmul.workspace_copy import workspace_bytes
from autotune.codegen.model.integers import INT_MAX, ceil_div
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import group_violations

_WORKSPACE_BYTES = 2**30
CLUSTERS = (1, 2, 4, 8)  # sizes that every device with clusters has (CUDA programming guide, thread block clusters)


def constraints(problem: SgemmProblem, schedule: SgemmSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    first = list(_transposition_violations(problem, schedule))
    if first:
        return first
    problem, schedule = product(problem, schedule)
    return list(_tile_violations(schedule)) or [
        *_access_violations(problem, schedule),
        *_pipeline_violations(schedule, spec),
        *_grid_violations(problem, schedule),
    ]


def _transposition_violations(problem: SgemmProblem, schedule: SgemmSchedule) -> Iterator[str]:
    """Operands that cannot be transposed first."""
    for operand in "ab":
        if getattr(schedule, f"copy_{operand}") is CopyMode.TRANSPOSE_FIRST:
            if not problem.along_k(operand):
                yield f"{operand.upper()} lies across k, so it cannot be transposed first"
            elif problem.k == 0:
                yield f"{operand.upper()} has no elements to transpose first, as k is 0"
            yield from _alignment_violations(problem, schedule, operand)
    needed = workspace_bytes(problem, [one.copy for one in transposed_first(problem, schedule)], 0)
    if needed > _WORKSPACE_BYTES:
        yield f"transposed operands need {needed} B of workspace, over {_WORKSPACE_BYTES} B"


def _tile_violations(schedule: SgemmSchedule) -> Iterator[str]:
    """Tiles that do not nest. Other constraints assume that they do."""
    for outer, inner in (("block", "warp"), ("warp", "thread")):
        for side in "mn":
            large, small = getattr(schedule, f"{outer}_{side}"), getattr(schedule, f"{inner}_{side}")
            if large % small:
                yield f"{outer}_{side} {large} is not a multiple of {inner}_{side} {small}"
    lanes = schedule.warp_m // schedule.thread_m * (schedule.warp_n // schedule.thread_n)
    if lanes == 0 or 32 % lanes:
        yield (
            f"a warp of {schedule.warp_m}×{schedule.warp_n} with threads of {schedule.thread_m}×{schedule.thread_n} "
            f"has {lanes} thread tiles, which does not divide 32"
        )
    elif schedule.block_k % (4 * schedule.warps_k * schedule.lanes_k):
        parts = f"4·warps_k·{schedule.lanes_k} lanes" if schedule.lanes_k > 1 else "4·warps_k"
        multiple = 4 * schedule.warps_k * schedule.lanes_k
        yield f"block_k {schedule.block_k} is not a multiple of {parts}, {multiple}"


def _access_violations(problem: SgemmProblem, schedule: SgemmSchedule) -> Iterator[str]:
    """Vectors and shared-memory layouts of A, B and C."""
    for operand, side in (("a", "m"), ("b", "n"), ("c", "n")):
        vector, unaligned = (
            getattr(schedule, f"vector_{operand}"),
            list(_alignment_violations(problem, schedule, operand)),
        )
        if unaligned:
            yield from unaligned
        elif operand == "c":
            strip = strip_width(schedule.thread_n)
            if vector > strip:
                yield f"vector_c {vector} over the {strip} elements of a strip of thread_n {schedule.thread_n}"
        else:
            yield from _operand_violations(problem, schedule, operand, side)


def _alignment_violations(problem: SgemmProblem, schedule: SgemmSchedule, operand: str) -> Iterator[str]:
    """Accesses to global memory that are wider than every row is aligned for."""
    vector, widest = getattr(schedule, f"vector_{operand}"), problem.vector_width(operand)
    if vector > widest:
        yield f"vector_{operand} {vector} over the {widest} elements that {operand.upper()} is aligned for"


def _operand_violations(problem: SgemmProblem, schedule: SgemmSchedule, operand: str, side: str) -> Iterator[str]:
    extent: int = getattr(schedule, f"block_{side}")
    vector: int = getattr(schedule, f"vector_{operand}")
    pad: int = getattr(schedule, f"pad_{operand}")
    strip = strip_width(getattr(schedule, f"thread_{side}"))
    along_k, k_major = problem.along_k(operand), schedule.k_major(problem, operand)
    if not along_k and extent % vector:
        yield f"block_{side} {extent} is not a multiple of vector_{operand} {vector}"
    if getattr(schedule, f"copy_{operand}") is CopyMode.DIRECT:
        yield from _direct_violations(schedule, operand, along_k, strip)
    aligned = 4 if k_major else strip if along_k else max(strip, vector)
    if pad % aligned:
        yield f"pad_{operand} {pad} is not a multiple of the {aligned} elements of an access"
    if getattr(schedule, f"swizzle_{operand}"):
        if pad:
            yield f"swizzle_{operand} excludes pad_{operand} {pad}"
        if k_major:
            yield f"swizzle_{operand} excludes asynchronous vectors along k, whose tile is not transposed"
        if extent % 32:
            yield f"swizzle_{operand} needs a block_{side} that is a multiple of 32, not {extent}"
        if schedule.warps_k * schedule.lanes_k > 1:
            yield f"swizzle_{operand} excludes a tile split in {schedule.warps_k * schedule.lanes_k} along k"
        if schedule.block_k & (schedule.block_k - 1):
            yield f"swizzle_{operand} needs a block_k that is a power of two, not {schedule.block_k}"


def _direct_violations(schedule: SgemmSchedule, operand: str, along_k: bool, strip: int) -> Iterator[str]:
    """An operand without tiles in shared memory."""
    vector: int = getattr(schedule, f"vector_{operand}")
    if not along_k and vector > strip:
        yield f"a direct vector_{operand} {vector} over the {strip} elements of a strip"
    if getattr(schedule, f"pad_{operand}") or getattr(schedule, f"swizzle_{operand}"):
        yield f"a direct {operand.upper()} has no tile to pad or to swizzle"
    if schedule.stages == 1:
        yield f"a direct {operand.upper()} needs 2 stages or more, not 1"
    if schedule.copy_a is schedule.copy_b:
        yield "A and B cannot both be direct"


def _pipeline_violations(schedule: SgemmSchedule, spec: DeviceSpec) -> Iterator[str]:
    if schedule.double_buffer_fragments and schedule.stages == 1:
        yield "double_buffer_fragments needs 2 stages or more, not 1"
    if schedule.copy_steps > schedule.k_steps:
        yield f"copy_steps {schedule.copy_steps} over the {schedule.k_steps} steps along k that a thread takes"
    if schedule.copy_steps > 1 and (not schedule.asynchronous or schedule.stages == 1):
        yield f"copy_steps {schedule.copy_steps} needs asynchronous copies of A and B, and 2 stages or more"
    if CopyMode.ASYNC_COPY in (schedule.copy_a, schedule.copy_b) and spec.compute_capability < (8, 0):
        yield f"cp.async needs sm_80 or newer, not {spec.arch}"
    if schedule.ffma_order is FfmaOrder.ZIGZAG and (schedule.thread_m % 2 or schedule.thread_n % 2):
        yield f"zigzag needs an even thread tile, not {schedule.thread_m}×{schedule.thread_n}"


def steps_along_k(problem: SgemmProblem, schedule: SgemmSchedule) -> int:
    """Steps of block_k for a tile of C; one if k is 0, since C is written even then."""
    return max(1, ceil_div(problem.k, schedule.block_k))


def _grid_violations(problem: SgemmProblem, schedule: SgemmSchedule) -> Iterator[str]:
    tiles, steps = schedule.tiles(problem), steps_along_k(problem, schedule)
    blocks, cluster = schedule.grid_blocks, schedule.cluster_k
    if cluster not in CLUSTERS:
        yield f"cluster_k {cluster} is not one of {', '.join(map(str, CLUSTERS))}"
    if blocks % cluster:
        yield f"grid_blocks {blocks} is not a multiple of cluster_k {cluster}"
    if tiles * cluster + blocks > INT_MAX:  # a block counts on to a tile behind the last one
        yield f"{tiles} tiles of {cluster} blocks and grid_blocks {blocks} over the {INT_MAX} blocks of a grid"
    yield from group_violations(schedule.raster_group, ceil_div(problem.n, schedule.block_n))
    if schedule.grid_clusters > tiles * steps > 0:
        yield f"{schedule.grid_clusters} clusters over the {tiles * steps} steps along k of all tiles"
    # The kernel counts the steps of shared tiles, fewer than two waves of them, in 31 bits.
    if min(tiles, 2 * schedule.grid_clusters) * steps > INT_MAX:
        yield f"grid_blocks {blocks} with {steps} steps along k a tile is over {INT_MAX} steps"
    workspace = schedule.workspace_bytes(problem)
    if workspace > _WORKSPACE_BYTES:
        yield f"grid_blocks {blocks} needs {workspace} B of workspace, over {_WORKSPACE_BYTES} B"
