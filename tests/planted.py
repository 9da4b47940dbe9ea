"""Bugs that are planted in a kernel's source, to see the emulator find them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.emulator import SEEDS, EmulatorError, verify


def with_bug(program: Program, right: str, wrong: str) -> Program:
    """The program with something wrong in the place of what its source has."""
    assert right in program.source, f"nothing to replace in\n{program.source}"
    return replace(program, source=program.source.replace(right, wrong))


def check_caught(problem: Problem, program: Program, right: str, wrong: str, seeds: Iterable[int] = SEEDS) -> None:
    """Plant a bug, with which the program does not compute the problem any more."""
    bug = with_bug(program, right, wrong)
    with pytest.raises(EmulatorError):
        verify(problem, bug, seeds)
