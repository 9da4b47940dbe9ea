"""Bugs that are planted in a kernel's source, to see the emulator find them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.emulator import SEEDS, EmulatorError, verify
from autotune.emulator.build import NEWEST

_right: set[tuple[object, ...]] = set()  # programs that this process has verified


class NothingToReplaceError(LookupError):
    """A bug does not fit the source: the test can say nothing about the kernel."""


def with_bug(program: Program, right: str, wrong: str) -> Program:
    """The program with something wrong in the place of what its source has."""
    if right not in program.source:
        raise NothingToReplaceError(f"{right!r} is not in the source of {program.title}")
    return replace(program, source=program.source.replace(right, wrong))


def check_caught(
    problem: Problem,
    program: Program,
    right: str,
    wrong: str,
    seeds: Iterable[int] = SEEDS,
    said: str | None = None,
    compute_capability: tuple[int, int] = NEWEST,
) -> None:
    """See a program compute its problem, and then fail with a bug in it; the error has `said` in it."""
    seeds = tuple(seeds)
    if (problem, program, seeds, compute_capability) not in _right:
        verify(problem, program, seeds, compute_capability)
        _right.add((problem, program, seeds, compute_capability))
    bug = with_bug(program, right, wrong)
    with pytest.raises(EmulatorError, match=said):
        verify(problem, bug, seeds, compute_capability)


def caught(
    emitted: Callable[[Any, Any], Program],
    bugs: Sequence[tuple[Problem, Any, str, str]],
    seeds: Iterable[int] = SEEDS,
) -> Callable[..., None]:
    """A test of bugs, each in the program that is emitted for a problem by a schedule or its words."""

    @pytest.mark.parametrize(("problem", "schedule", "right", "planted"), bugs)
    def test(problem: Problem, schedule: object, right: str, planted: str) -> None:
        check_caught(problem, emitted(problem, schedule), right, planted, seeds)

    return test
