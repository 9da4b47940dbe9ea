"""The program of a schedule by FFMAs."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d.emit import source
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.source import fma_facts
from autotune.codegen.model.program import Program
from autotune.codegen.source.headers import Constant

from .schedule import FmaSchedule


def emit(problem: Conv2dProblem, schedule: FmaSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    product = problem.sgemm
    facts: dict[str, Constant] = {"gathered_a": True, "gathered_b": False}
    facts |= fma_facts(
        product,
        schedule,
        guard_m=True,  # for what lies outside of images
        guard_n=product.n % schedule.block_n != 0,
    )
    index = "long long" if schedule.block_n * (product.k + 1) >= 2**31 else "int"
    return source(problem).scheduled(
        schedule,
        "fma/block",
        "conv2d_block",
        facts=facts,
        types=["// Holds an offset inside of a tile of the weight.", f"using Index = {index};"],
        workspace_bytes=schedule.workspace_bytes(product),
    )
