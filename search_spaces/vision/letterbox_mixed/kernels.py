"""The kernels of letterbox, as letterbox_mixed knows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.target import CHANNELS
from autotune.codegen.vision.letterbox_mixed.problem import MixedProblem
from autotune.search_spaces.contract.kernel import Kernel


def of_mixed(kernel: Kernel[Any, Any]) -> Kernel[MixedProblem, Any]:
    """The same, proved by pictures of many sizes: the same targets, as many bytes, and one more picture."""

    def checks(problem: MixedProblem, schedule: Schedule) -> list[tuple[MixedProblem, Schedule]]:
        alike = LetterboxProblem(1, 1, 1, 1, align_target=problem.align_target, **problem.kinds)
        found = []
        for one, few in kernel.checks(alike, schedule):
            batch = one.batch if one.batch == 1 else one.batch + 1
            pixels = batch * one.picture_height * (one.picture_width + 2)
            like = replace(problem, bytes=CHANNELS * pixels, batch=batch, height=one.height, width=one.width)
            found.append((like, few))
        return found

    return replace(kernel, checks=checks)
