"""Which operands tensor copies take."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.attention.problem import HeadProblem
from autotune.codegen.attention.tensor_maps import ALIGNED
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.tensor_map import MOST_STRIDE_BYTES


def unmapped(problem: HeadProblem, *operands: str) -> Iterator[str]:
    """Why tensor copies do not take these operands as they are."""
    if not problem.keys:
        yield "keys 0: a tensor map has at least one"
    for operand in operands:
        stated = problem.layouts[operand]
        if stated.alignment < WIDEST_ACCESS:
            yield f"{operand} is aligned to {stated.alignment} bytes: tensor copies need {WIDEST_ACCESS}"
        for extent, step, field in zip(stated.shape, stated.strides, stated.fields, strict=False):
            if extent > 1 and (step % ALIGNED or step * stated.element_bytes >= MOST_STRIDE_BYTES):
                yield f"{field} {step}: tensor copies need a multiple of {ALIGNED} elements below 2^40 bytes"
