"""The program of a schedule by FFMAs."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_weight.emit import GATHERED, source
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.convolution.source import fma_facts
from autotune.codegen.model.program import Program

from .schedule import FmaWeightSchedule


def emit(problem: Conv2dWeightProblem, schedule: FmaWeightSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    product = problem.sgemm
    facts = GATHERED | fma_facts(
        product,
        schedule,
        guard_m=product.m % schedule.block_m != 0,
        guard_n=True,  # for what lies outside of images
    )
    index = "long long" if schedule.block_k * (problem.out_channels + 1) >= 2**31 else "int"
    return source(problem).scheduled(
        schedule,
        "fma/block",
        "conv2d_weight_block",
        facts=facts,
        types=["// Holds an offset inside of a tile of the gradient, or of D.", f"using Index = {index};"],
        workspace_bytes=schedule.workspace_bytes(product),
    )
