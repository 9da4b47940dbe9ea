"""The tiled rungs of the ladder: kernels that show one idea each, without what a fast kernel needs besides."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import comment, launch_comment
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.schedule_struct import schedule_struct

from .emit import ENTRY, FORMULA, kernel_arguments, plain_problem_struct
from .problem import SgemmProblem


@dataclass(frozen=True)
class TiledSchedule(Schedule):
    """A block computes block_m×block_n elements of C, a thread thread_m×thread_n of them.

    Attributes:
        block_m, block_n: rows and columns of a block's tile of C.
        block_k: columns of A and rows of B in shared memory.
        thread_m, thread_n: rows and columns of a thread's tile.
        vector: elements of an access to memory.
        warp_tiles: whether a warp computes 32×64 elements side by side, its lanes in alternating strips.
        stages: pairs of tiles in shared memory, 1 or 2.
    """

    block_m: int = tunable(32)
    block_n: int = tunable(32)
    block_k: int = tunable(32)
    thread_m: int = tunable(1)
    thread_n: int = tunable(1)
    vector: int = tunable(1, allowed=(1, 2, 4))
    warp_tiles: bool = tunable(False)
    stages: int = tunable(1, allowed=(1, 2))

    def footprint(self, problem: SgemmProblem) -> Footprint:
        """The tiles of A have four elements of padding after each k."""
        threads = self.block_m // self.thread_m * (self.block_n // self.thread_n)
        return Footprint(threads, 4 * self.stages * self.block_k * (self.block_m + 4 + self.block_n))


def emit_tiled(problem: SgemmProblem, schedule: TiledSchedule) -> Program:
    """The source of a rung, with accesses no wider than the problem is aligned for."""
    fitted = replace(schedule, vector=min(schedule.vector, *(problem.vector_width(operand) for operand in "abc")))
    members = kernel_arguments(problem)
    footprint = fitted.footprint(problem)
    tiles = ceil_div(problem.m, fitted.block_m) * ceil_div(problem.n, fitted.block_n) * problem.batch
    launch = footprint.launch(ENTRY, tiles)
    body = used_source("matmul/sgemm/tiled.cuh", "sgemm_tiled", fitted.constants)
    source = f"""{comment(f"{ENTRY}: {FORMULA}, for matrices {problem.layout} of any size")}
{comment(str(fitted))}
{launch_comment(launch)}

{cuda_arguments(members)}

{schedule_struct(fitted, body)}

{plain_problem_struct(problem, body)}

{body}
{footprint.entry(ENTRY, "sgemm_tiled(arguments);")}"""
    return Program(source, members, (launch,))
