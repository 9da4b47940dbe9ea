"""Which schedules by wgmma are legal."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.numbers import SCALE_BLOCK
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import SUM_BYTES, Prepare
from autotune.codegen.matmul.gemm.wgmma.operands import registers_a
from autotune.codegen.matmul.gemm.wgmma.schedule import NARROW_ROWS, PRODUCT_ROWS, ROW_BYTES, WgmmaSchedule
from autotune.codegen.matmul.gemm.wgmma.swap import tiled_problem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WARPGROUP, WIDEST_ACCESS
from autotune.codegen.model.tensor_map import MOST_OF_BOX, MOST_STRIDE_BYTES
from autotune.codegen.source.wgmma import violations as column_violations
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemm import preparation
from autotune.search_spaces.matmul.gemm.promotion import sum_violations
from autotune.search_spaces.matmul.gemm.tiling import grid_violations

_SWIZZLED_ROWS = 8  # that one swizzle permutes
_TILE_UNIT = 1024  # bytes that eight rows of 128 have, at a multiple of which such a tile begins
_STORED_BYTES = 2  # bytes of an element whose boxes may have rows of any whole units
_OTHER_REGISTERS = 40  # registers of a consumer, beside sums: descriptors, addresses, bounds
# Stages of A in registers, and what is beside these and sums. With less, ptxas 13.0 to 13.5 let products wait in turn.
_FRAGMENTS, _BESIDE_FRAGMENTS = 4, 32
_PRODUCT_REGISTERS = 26  # beside sums, without which ptxas 13.0 compiles no product


def multiplied_by_wgmma(problem: GemmProblem) -> bool:
    """Whether some schedule of wgmma is legal where the device has it."""
    return not list(_problem_violations(problem))


def enough_registers(problem: GemmProblem, schedule: WgmmaSchedule) -> bool:
    """Whether a consumer's thread has room for its sums, and for what it multiplies from registers."""
    return not any(_register_violations(problem, schedule))


def constraints(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    problem = problem.least_of_bucket  # so that a schedule serves all rows of a bucket, or none
    if found := list(preparation.violations(problem, schedule)):
        return found
    return _product_violations(product(problem, schedule), schedule) or list(grid_violations(problem, schedule))


def _product_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> list[str]:
    if schedule.swap and (found := list(swap_violations(problem, schedule))):
        return found
    left = tiled_problem(problem, schedule)
    return [
        *_problem_violations(problem),
        *_layout_violations(left, schedule),
        *_tile_violations(left, schedule),
        *_cluster_violations(left, schedule),
        *(_shared_k_violations(problem, schedule) if schedule.cluster_k > 1 else ()),
        *_register_violations(left, schedule),
        *_store_violations(left, schedule),
        *_sum_violations(left, schedule),
    ]


def swappable(problem: GemmProblem) -> bool:
    """Whether kernels know the transposed problem."""
    return problem.batch == 1 and problem.parts == 1 and problem.scales is not Scales.BLOCK


def b_alone_across(problem: GemmProblem) -> bool:
    """Whether of two operands in TF32 only B lies across k: with swap, products take it from registers."""
    return problem.dtype is DType.FLOAT32 and problem.layout == "nn"


def swap_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    """What has no transposed problem, or no kernel for it."""
    if not swappable(problem):
        yield (
            f"swap of batch {problem.batch}, gate {problem.gate}, scales {problem.scales}: expected one matrix, no "
            f"gate and no {Scales.BLOCK}"
        )
    if {schedule.prepare_a, schedule.prepare_b} != {Prepare.NONE}:
        yield "swap: expected prepare_a none and prepare_b none"


def stored_together(problem: GemmProblem, schedule: WgmmaSchedule) -> int:
    """Neighbours of a row that a thread stores from registers; with swap, these are elements of a column."""
    return 1 if schedule.swap else min(2, problem.vector_width("d"))


def _problem_violations(problem: GemmProblem) -> Iterator[str]:
    known = {8: ("nt",), 16: ("nn", "nt", "tn", "tt"), 32: ("nn", "nt", "tt")}[problem.dtype.bits]
    if problem.layout not in known:
        yield f"layout {problem.layout} of {problem.dtype}: wgmma multiplies {' and '.join(known)}"
    if problem.gate is Gate.INTERLEAVED:
        yield f"gate {problem.gate}: kernels by wgmma know pairs in {Gate.HALVES} only"
    if not problem.m * problem.n * problem.k * problem.batch:
        yield f"m {problem.m}, n {problem.n}, k {problem.k}, batch {problem.batch}: wgmma needs 1 or more of each"
    for operand in "ab":
        if problem.vector_width(operand) * problem.dtype.bytes < WIDEST_ACCESS:
            yield f"tensor copies of {operand.upper()} need rows that begin at multiples of {WIDEST_ACCESS} bytes"
        if (apart := _apart(problem, operand)) >= MOST_STRIDE_BYTES:
            yield f"tensor copies of {operand.upper()} take strides below {MOST_STRIDE_BYTES} bytes, not {apart}"


def _apart(problem: GemmProblem, operand: str) -> int:
    """Bytes from a row or a matrix to the next."""
    leading, stride, _ = problem.layout_of(operand)
    return max(leading, stride) * problem.element_bytes_of(operand)


def _layout_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    """Of TF32, B lies along k, or has become A, which products may take from registers."""
    if problem.dtype is DType.FLOAT32 and not problem.along_k("b"):
        yield f"B of {problem.dtype} lies across k: expected swap {int(not schedule.swap)}, or prepare_b transpose"
    if registers_a(problem) and schedule.wait_depth != 1:
        yield f"wait_depth {schedule.wait_depth} with A in registers, which are loaded while products run: expected 1"


def _tile_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    """Tiles that are not whole products, or not whole boxes."""
    rows = PRODUCT_ROWS * (1 if schedule.pingpong else schedule.consumers)
    if schedule.block_m % rows:
        yield f"block_m {schedule.block_m} is not a multiple of {rows}, {PRODUCT_ROWS} for each consumer"
    if schedule.pingpong and schedule.consumers < 2:
        yield f"pingpong needs 2 consumers or more, not {schedule.consumers}"
    if problem.gate is Gate.HALVES:
        unit = halves_unit(problem)
        if schedule.block_n % unit:
            yield f"block_n {schedule.block_n} is not a multiple of {unit} columns of gates and factors in halves"
        if schedule.cluster_m > 1:
            yield f"cluster_m {schedule.cluster_m}: blocks do not share gates and factors in halves, expected 1"
    yield from column_violations(schedule.block_n, problem.dtype, problem.dtype_b)
    terms = ROW_BYTES // problem.dtype.bytes
    narrow = (
        problem.dtype.bits == 16 or problem.dtype is DType.INT8
    ) and schedule.block_k * problem.dtype.bytes in NARROW_ROWS
    if narrow and (stage := schedule.stage_bytes(problem)) % _TILE_UNIT:
        yield f"block_k {schedule.block_k}: stages of {stage} bytes are no multiple of {_TILE_UNIT}"
    if schedule.block_k % terms and not narrow:
        yield f"block_k {schedule.block_k} is not a multiple of the {terms} elements of a row of {ROW_BYTES} bytes"
    if schedule.block_m > MOST_OF_BOX:
        yield f"block_m {schedule.block_m} over the {MOST_OF_BOX} rows of a tensor copy"


def takes_whole_tiles(problem: GemmProblem, schedule: WgmmaSchedule) -> bool:
    """Whether blocks cannot share tiles along k."""
    side_by_side = schedule.cluster_m * schedule.cluster_n > 1
    return side_by_side or schedule.pingpong or schedule.promote > 0 or problem.dtype is DType.INT8


def shared_evenly(problem: GemmProblem, block_n: int, cluster_m: int) -> bool:
    """Whether the blocks of a cluster each copy whole swizzled rows of a tile of B."""
    return not problem.along_k("b") or block_n % (cluster_m * _SWIZZLED_ROWS) == 0


def _cluster_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    if not shared_evenly(problem, schedule.block_n, schedule.cluster_m):
        yield (
            f"block_n {schedule.block_n} is not a multiple of {schedule.cluster_m * _SWIZZLED_ROWS}, {_SWIZZLED_ROWS} "
            "rows of B for each of the blocks that share them"
        )
    if schedule.grid_blocks % schedule.cluster:
        yield f"grid_blocks {schedule.grid_blocks} is not a multiple of the {schedule.cluster} blocks of a cluster"
    if schedule.grid_blocks and not schedule.whole_tiles and takes_whole_tiles(problem, schedule):
        yield (
            "blocks of clusters side by side, pingpong consumers and sums of int8, or with promote, take whole tiles: "
            "expected whole_tiles 1 with grid_blocks"
        )


def _shared_k_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    blocks = schedule.cluster_k
    if schedule.cluster > blocks or schedule.pingpong or schedule.whole_tiles:
        yield (
            f"cluster_k {blocks}: expected cluster_m 1, cluster_n 1, pingpong 0 and whole_tiles 0, since blocks that "
            "share k have one tile, whose sums lie where its stages were"
        )
    clusters = max(1, schedule.sharers(problem)) if schedule.grid_blocks else 1
    if schedule.grid_blocks and schedule.grid_blocks != clusters * blocks * schedule.tiles(problem):
        yield (
            f"cluster_k {blocks} with grid_blocks {schedule.grid_blocks}: expected 0, or as many clusters for each of "
            f"the {schedule.tiles(problem)} tiles"
        )
    if schedule.steps(problem) < clusters * blocks:
        yield f"cluster_k {blocks} in {clusters} clusters over the {schedule.steps(problem)} steps along k of a tile"
    if not sums_fit(problem, schedule):
        room = f"{schedule.stages} stages of {schedule.stage_bytes(problem)} bytes"
        yield f"cluster_k {blocks}: {_sums_bytes(schedule)} bytes of sums over {room}"


def sums_fit(problem: GemmProblem, schedule: WgmmaSchedule) -> bool:
    """Whether the sums of a tile, if blocks exchange them, fit where its stages were."""
    return schedule.cluster_k == 1 or _sums_bytes(schedule) <= schedule.stages * schedule.stage_bytes(problem)


def _sums_bytes(schedule: WgmmaSchedule) -> int:
    return SUM_BYTES * schedule.block_m * schedule.block_n


def _register_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    loaded = _fragment_registers(schedule) if registers_a(problem) else 0
    beside = _FRAGMENTS * loaded + _BESIDE_FRAGMENTS if loaded else _OTHER_REGISTERS
    needed, most = schedule.consumer_sums + beside, schedule.consumer_registers
    if needed > most:
        yield f"about {needed} registers of a consumer's thread over the {most} that it gets"
    # What a product takes of a thread's registers at once, of which setmaxnreg gives no more.
    product, given = schedule.block_n // 2 + _PRODUCT_REGISTERS, schedule.given_registers
    if product > given:
        yield f"{product} registers of a product of {schedule.block_n} columns over the {given} of a thread"
    if loaded and (held := schedule.consumer_sums + 2 * loaded) > given:
        yield f"{held} registers of products with A in registers over the {given} of a thread"


def _fragment_registers(schedule: WgmmaSchedule) -> int:
    """Of a thread, for its part of a stage of A in TF32."""
    rows = schedule.block_m // (1 if schedule.pingpong else schedule.consumers)
    return rows * schedule.block_k // WARPGROUP


def _store_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    vector = stored_together(problem, schedule)
    if schedule.vector_d != vector:
        yield f"vector_d {schedule.vector_d} where registers are stored as they are: expected {vector}"
    if schedule.tensor_store and not _stored_with_swap(problem, schedule):
        yield "tensor_store with swap needs results of 16 bits, or floats and no blocks that share k"
    elif schedule.tensor_store and not stored_in_boxes(problem, schedule):
        yield (
            f"tensor_store needs rows of D that begin and end at multiples of {WIDEST_ACCESS} bytes, and boxes of 16 "
            f"bits, or whose rows have {ROW_BYTES} bytes, as those of a block_n of {schedule.block_n} "
            f"{problem.result} have not"
        )


def _sum_violations(problem: GemmProblem, schedule: WgmmaSchedule) -> Iterator[str]:
    yield from sum_violations(problem, schedule)
    if schedule.promote and schedule.wait_depth:
        yield f"wait_depth {schedule.wait_depth} with promote, for which sums are waited for: expected 0"
    if problem.scales is Scales.BLOCK and schedule.block_n % SCALE_BLOCK and SCALE_BLOCK % schedule.block_n:
        yield f"block_n {schedule.block_n}: expected a divisor or a multiple of the {SCALE_BLOCK} columns of a scale"


def stored_in_boxes(problem: GemmProblem, schedule: WgmmaSchedule) -> bool:
    """Whether tensor copies can store D: an H200 writes whole units of 16 bytes where a row ends within one.

    `problem` is the one that is multiplied.
    """
    size = problem.result.bytes
    columns = problem.m if schedule.swap else problem.n // problem.parts
    if columns * size % WIDEST_ACCESS or not _stored_with_swap(problem, schedule):
        return False
    reached = problem.vector_width("d") * size >= WIDEST_ACCESS and _apart(problem, "d") < MOST_STRIDE_BYTES
    return reached and (size == _STORED_BYTES or (size > 1 and schedule.store_row_bytes(problem) == ROW_BYTES))


def _stored_with_swap(problem: GemmProblem, schedule: WgmmaSchedule) -> bool:
    """Whether consumers write columns of tiles as rows of boxes, if they have to."""
    size = problem.result.bytes
    return not schedule.swap or size == _STORED_BYTES or (size == SUM_BYTES and schedule.cluster_k == 1)


def halves_unit(problem: GemmProblem) -> int:
    """What the columns of a tile of gates and factors are a multiple of: swizzled rows, or boxes, of each."""
    return 2 * (_SWIZZLED_ROWS if problem.along_k("b") else ROW_BYTES // problem.dtype.bytes)
