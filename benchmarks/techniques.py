"""What each technique of gemm by wgmma brings, in BF16, B as weights lie: a schedule and the one before it in turns.

    python benchmarks/techniques.py DEVICE [SIZE…]

Each kernel is verified once, then sampled in turns with all others of its SIZE (4096 8192), so that a clock that drifts
meets all. Steps build on each other; variants change the last step.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from statistics import median

from side_by_side import Times, compiled, over, shown

from autotune.bench.interleave import interleaved
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.compile_pool import CompilePool
from autotune.db import Status
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.contract.registry import operator

GEMM = operator("gemm")
SAMPLES = 60
FIRST = "BM=128 BN=128 BK=64 stages=2 vector_d=2 raster_group=1"
STEPS = {
    "tiles of 128x128, two stages": "",
    "four stages": "stages=4",
    "tiles of 128x256": "BN=256",
    "rows of 16 tiles together": "raster_group=16",
    "results by tensor copies": "tensor_store=1",
    "blocks that stay": "grid_blocks=132 whole_tiles=1",
}
VARIANTS = {
    "products of two stages under way": "wait_depth=1",
    "pairs of blocks that share B": "cluster_m=2",
    "pairs of blocks that share A": "cluster_n=2",
    "tiles of 256x128": "BM=256 BN=128",
    "consumers that take turns": "BN=128 stages=6 pingpong=1 wait_depth=1",
    "blocks share the last tiles along k": "whole_tiles=0",
    "the shape compiled in": "specialize=shape",
}


def schedules() -> dict[str, tuple[WgmmaSchedule, str]]:
    """Each step and variant by its name, with the name of what it is compared with."""
    made: dict[str, tuple[WgmmaSchedule, str]] = {}
    words, before = FIRST, ""
    for name, added in STEPS.items():
        words = f"{words} {added}"
        made[name] = _schedule(words), before or name
        before = name
    for name, added in VARIANTS.items():
        made[name] = _schedule(f"{words} {added}"), before
    return made


def _schedule(words: str) -> WgmmaSchedule:
    """The last of words for the same field counts."""
    return WgmmaSchedule.parse([*{word.partition("=")[0]: word for word in words.split()}.values()])


def main(selector: str, *sizes: int) -> None:
    """Measure each size."""
    device = CudaDevice(int(selector))
    with CompilePool() as pool:
        for size in sizes or (4096, 8192):
            _measure(device, pool, size)


def _measure(device: CudaDevice, pool: CompilePool, size: int) -> None:
    problem = GEMM.problem_type(size, size, size, transpose_b=True)
    made = schedules()
    kernels = {name: compiled(GEMM, problem, device, pool, one) for name, (one, _) in made.items()}
    with device.session(GEMM, problem, seed=0) as session, ExitStack() as stack:
        launches = {}
        for name, (_, program, kernel) in kernels.items():
            launches[name] = stack.enter_context(session.prepared(program, kernel))
            found = session.verify(launches[name])
            if found.status is not Status.OK:
                sys.exit(f"{name}: {found.status}: {found.error}")
        taken = interleaved(launches, session.sample, SAMPLES)
    times: Times = {one: taken[name] for name, (one, _) in made.items()}
    for name, (one, before) in made.items():
        rate = 2 * size**3 / median(times[one]) / 1e12
        ratio = shown(over(times, made[before][0], one))
        print(f"{size}  {name:42} {rate:7.1f} TFLOP/s  {ratio}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
