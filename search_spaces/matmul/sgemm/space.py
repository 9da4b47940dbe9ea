"""What a sampler of sgemm schedules draws from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import ADDRESS_REGISTERS, CopyMode, SgemmSchedule, strip_width
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.contract.space import Draw, Parameter, Space, Value, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import occupancy

from .legal import CLUSTERS, steps_along_k

_LAYOUTS = ("plain", "pad4", "pad8", "pad16", "swizzle")
_MOST_WARPS = 16  # warps of a block
# Rows or columns of C, with which transposing the other operand first takes 5 % of the product on an H200.
_LONG = 1024
_THREADS = (
    *("1×4", "2×4", "4×4", "4×8", "8×4", "4×16", "16×4", "12×4", "18×4", "20×4"),
    *("8×8", "10×8", "8×12", "12×8", "22×6", "18×8", "8×16", "16×8", "12×12"),
)
_SCATTERED_THREADS = ("8×3", "8×5", "12×5", "8×7")  # for rows of C that are stored element by element


def space(problem: SgemmProblem, spec: DeviceSpec) -> Space[SgemmSchedule]:
    """Warps, lanes and thread tiles are drawn and the block follows, so that tiles nest.

    The draws of `block_k`, `stages`, `min_blocks_per_sm`, `lanes_k`, warps, `vector_c` and `copy_steps` are upper
    bounds: the schedule gets as many as fit. A loop of at most 32 steps is unrolled; a block has at most 16 warps.
    """
    parameters = (
        Parameter("warps_m", (1, 2, 4)),
        Parameter("warps_n", (1, 2, 4, 8)),
        Parameter("lanes_m", (1, 2, 4, 8, 16)),
        Parameter("lanes_k", (1, 2, 4, 8)),
        Parameter("thread_tile", _THREADS if problem.vector_width("c") > 1 else (*_THREADS, *_SCATTERED_THREADS)),
        Parameter("layout_a", _LAYOUTS),
        Parameter("layout_b", _LAYOUTS),
        Parameter("load_a", _copies(problem, spec, "a")),
        Parameter("load_b", _copies(problem, spec, "b")),
        Parameter("grid", _grids(problem, spec)),
        *field_parameters(SgemmSchedule, cluster_k=clusters(problem, spec), vector_c=_widths(problem, "c")),
    )

    def fits(schedule: SgemmSchedule, grid: Value) -> bool:
        return schedule.grid_blocks == grid_blocks(problem, spec, schedule, str(grid))

    return Space(parameters, partial(_build, problem, spec), fits={"grid": fits})


def _widths(problem: SgemmProblem, operand: str) -> tuple[int, ...]:
    return tuple(width for width in (1, 2, 4) if width <= problem.vector_width(operand))


def _copies(problem: SgemmProblem, spec: DeviceSpec, operand: str) -> tuple[str, ...]:
    """How it is copied and the vector width together: what is possible depends on both."""
    widths = _widths(problem, operand)
    copies = [f"{CopyMode.REGISTERS} {width}" for width in widths]
    if spec.compute_capability >= (8, 0):
        copies += [f"{CopyMode.ASYNC_COPY} {width}" for width in widths]
        if problem.along_k(operand) and problem.k and (problem.m if operand == "b" else problem.n) >= _LONG:
            copies.append(f"{CopyMode.TRANSPOSE_FIRST} {widths[-1]}")
    return (*copies, str(CopyMode.DIRECT))


def clusters(problem: SgemmProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """More than one block if tiles of 64×64 fill the device at most three times, with 64 steps along k each."""
    shared = spec.compute_capability >= (9, 0) and _tiles_of_64(problem) <= 3 * spec.sm_count
    return tuple(blocks for blocks in CLUSTERS if blocks == 1 or (shared and blocks <= problem.k // 64))


def _tiles_of_64(problem: SgemmProblem) -> int:
    return ceil_div(problem.m, 64) * ceil_div(problem.n, 64) * problem.batch


def _grids(problem: SgemmProblem, spec: DeviceSpec) -> tuple[str, ...]:
    """A block for each tile; some blocks for each SM; and several blocks for each tile, if a slice of k keeps 64 steps.

    Several for each tile only as long as tiles of 64×64 would not fill the device eight times by themselves.
    """
    useful = min(problem.k // 64, 8 * spec.sm_count // max(1, _tiles_of_64(problem)))
    splits = (split for split in (2, 3, 4, 6, 8, 12, 16, 24, 32) if split <= useful)
    return ("tiles", *(f"SMs·{blocks}" for blocks in (1, 2, 3, 4, 6, 8)), *(f"tiles·{split}" for split in splits))


def grid_blocks(problem: SgemmProblem, spec: DeviceSpec, schedule: SgemmSchedule, grid: str) -> int:
    """What a value of the parameter `grid` means for the tiles of a schedule: whole clusters, each with a step."""
    tiles = schedule.tiles(problem)
    unit, _, factor = grid.partition("·")
    if not factor:
        return 0
    blocks = int(factor) * (spec.sm_count if unit == "SMs" else tiles)
    whole = min(max(1, blocks // schedule.cluster_k), tiles * steps_along_k(problem, schedule))
    return whole * schedule.cluster_k


def _build(problem: SgemmProblem, spec: DeviceSpec, draw: Draw) -> SgemmSchedule:
    values: dict[str, Any] = {name: value for name, value in draw.items() if name in field_specs(SgemmSchedule)}
    values["thread_m"], values["thread_n"] = map(int, str(draw["thread_tile"]).split("×"))
    values["vector_c"] = min(values["vector_c"], strip_width(values["thread_n"]))
    for operand in "ab":
        values |= _operand(problem, values, draw, operand)
    lanes_m, most_warps = int(draw["lanes_m"]), _most_warps(values, spec)
    warps_m = min(int(draw["warps_m"]), most_warps)
    warps_n = min(int(draw["warps_n"]), most_warps // warps_m)
    lanes_k, values["warps_k"] = _parts_along_k(values, draw, most_warps // (warps_m * warps_n))
    for side, lanes, warps in (("m", lanes_m, warps_m), ("n", 32 // (lanes_m * lanes_k), warps_n)):
        values[f"warp_{side}"] = lanes * values[f"thread_{side}"]
        values[f"block_{side}"] = values[f"warp_{side}"] * warps
    values["block_k"] = min(int(values["block_k"]), max(8, _most_steps(values) * lanes_k * values["warps_k"]))
    one_stage = SgemmSchedule.from_dict(values | {"stages": 1, "double_buffer_fragments": False, "copy_steps": 1})
    stages = _stages(problem, spec, one_stage, int(draw["stages"]))
    fragments = bool(draw["double_buffer_fragments"]) and stages > 1
    spread = one_stage.k_steps if one_stage.asynchronous and stages > 1 else 1
    staged = replace(
        one_stage, stages=stages, double_buffer_fragments=fragments, copy_steps=min(int(draw["copy_steps"]), spread)
    )
    footprint = staged.footprint(problem)
    fit = occupancy(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
    return replace(
        staged,
        grid_blocks=grid_blocks(problem, spec, staged, str(draw["grid"])),
        min_blocks_per_sm=max(1, min(int(draw["min_blocks_per_sm"]), fit.blocks_per_sm)),
    )


def _most_warps(values: Mapping[str, Any], spec: DeviceSpec) -> int:
    """A power of two, of threads whose sums and fragments fit into a block's registers."""
    m, n = int(values["thread_m"]), int(values["thread_n"])
    fitting = spec.registers_per_block // (32 * (m * n + m + n + ADDRESS_REGISTERS))
    return min(_MOST_WARPS, 1 << (max(1, fitting).bit_length() - 1))


def _most_steps(values: Mapping[str, Any]) -> int:
    """Most steps along k of a thread in a tile; a direct operand has at most 32 elements in registers, or 4 steps."""
    for operand, side in (("a", "m"), ("b", "n")):
        if values[f"copy_{operand}"] == CopyMode.DIRECT:
            return max(4, 32 // int(values[f"thread_{side}"]) // 4 * 4)
    return 32


def _stages(problem: SgemmProblem, spec: DeviceSpec, schedule: SgemmSchedule, wanted: int) -> int:
    """As many as fit in shared memory; at least two if an operand is direct."""
    least = 2 if CopyMode.DIRECT in (schedule.copy_a, schedule.copy_b) else 1
    counts = range(max(wanted, least), least, -1)
    fitting = (n for n in counts if replace(schedule, stages=n).shared_bytes(problem) <= spec.shared_per_block)
    return next(fitting, least)


def _operand(problem: SgemmProblem, values: Mapping[str, Any], draw: Draw, operand: str) -> dict[str, Any]:
    """How A or B is copied and laid out. A direct operand has no tile in shared memory to lay out.

    Only one of them is direct, and its vectors are no wider than a thread's strips, which may lie along them. A K-major
    tile is padded instead of swizzled.
    """
    mode, _, width = str(draw[f"load_{operand}"]).partition(" ")
    vector = int(width or _widths(problem, operand)[-1])
    if mode == CopyMode.DIRECT and values.get("copy_a") == CopyMode.DIRECT:
        mode = str(CopyMode.REGISTERS)
    layout = str(draw[f"layout_{operand}"])
    pad, swizzle = int(layout.removeprefix("pad")) if layout.startswith("pad") else 0, layout == "swizzle"
    if mode == CopyMode.DIRECT:
        pad, swizzle = 0, False
        vector = min(vector, strip_width(values[f"thread_{'m' if operand == 'a' else 'n'}"]))
    if swizzle and mode == CopyMode.ASYNC_COPY and vector > 1 and problem.along_k(operand):
        pad, swizzle = 4, False
    return {
        f"copy_{operand}": mode,
        f"vector_{operand}": vector,
        f"pad_{operand}": pad,
        f"swizzle_{operand}": swizzle,
    }


def _parts_along_k(values: Mapping[str, Any], draw: Draw, most_warps: int) -> tuple[int, int]:
    """Lanes and warps that share a tile, each with 4 steps along k or more; a swizzle excludes both.

    As many lanes as a warp has, and `most_warps` of a block at most, halved until that fits.
    """
    if values["swizzle_a"] or values["swizzle_b"]:
        return 1, 1
    block_k, warps_k = int(values["block_k"]), int(draw["warps_k"])
    lanes_k = min(int(draw["lanes_k"]), 32 // int(draw["lanes_m"]), block_k // 4)
    while warps_k > 1 and (block_k % (4 * warps_k * lanes_k) or warps_k > most_warps):
        warps_k //= 2
    return lanes_k, warps_k
