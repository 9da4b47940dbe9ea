"""Bugs that are planted in a kernel's source, to see the emulator find them."""

from dataclasses import replace

import pytest

from autotune.emulator import SEEDS, EmulatorError, verify
from autotune.emulator.build import NEWEST

_right: set[tuple[object, ...]] = set()  # programs that this process has verified


class NothingToReplaceError(LookupError):
    """A bug does not fit the source: the test can say nothing about the kernel."""


def with_bug(program, right, wrong):
    """The program with something wrong in the place of what its sources have."""
    if not any(right in module.source for module in program.modules):
        raise NothingToReplaceError(f"{right!r} is in no source of {program.title}")
    others = tuple(replace(module, source=module.source.replace(right, wrong)) for module in program.others)
    return replace(program, source=program.source.replace(right, wrong), others=others)


def check_caught(problem, program, right, wrong, seeds=SEEDS, said=None, compute_capability=NEWEST):
    """See a program compute its problem, and then fail with a bug in it; the error has `said` in it."""
    seeds = tuple(seeds)
    if (problem, program, seeds, compute_capability) not in _right:
        verify(problem, program, seeds, compute_capability)
        _right.add((problem, program, seeds, compute_capability))
    bug = with_bug(program, right, wrong)
    with pytest.raises(EmulatorError, match=said):
        verify(problem, bug, seeds, compute_capability)


def caught(emitted, bugs, seeds=SEEDS):
    """A test of bugs, each in the program that is emitted for a problem by a schedule or its words."""

    @pytest.mark.parametrize(("problem", "schedule", "right", "planted"), bugs)
    def test(problem, schedule, right, planted):
        check_caught(problem, emitted(problem, schedule), right, planted, seeds)

    return test
