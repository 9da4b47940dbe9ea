"""letterbox: which pixels make one by two taps, and which neighbours of a target can be stored together."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.vision.letterbox.target import Targets


def rule_violations(problem: Targets) -> Iterator[str]:
    """Why two rows and two columns do not make a pixel."""
    if problem.rule.filtered:
        yield f"rule {problem.rule} has a filter, not two taps"


def store_violations(problem: Targets, pixels: int) -> Iterator[str]:
    """Why a store cannot have so many neighbours."""
    if problem.width % pixels:
        yield f"pixels {pixels} do not divide the {problem.width} columns of the target"
    if (stored := pixels * problem.dtype.bytes) > problem.align_target:
        yield f"pixels {pixels} of {stored} B over the {problem.align_target} B that the target is aligned to"
