"""The proof's operator in the emulator: it is right, and each of its parts can be seen to go wrong."""

from dataclasses import replace
from functools import partial

import pytest
from probe import OPERATOR, ProbeProblem, ProbeSchedule, emit, emit_naive
from probe_calls import edited

from autotune import emulator
from autotune.compiler import CompileError
from autotune.contract.checker import check_checker, check_reference_kernel
from autotune.emulator import EmulatorError, verify

PROBLEM = ProbeProblem(40, 200)
BIASED = ProbeProblem(33, 70, True, ldx=80, ldy=72)  # y cannot be x
COPIED, LOADED = ProbeSchedule(tensor_copy=True), ProbeSchedule()


@pytest.mark.parametrize("schedule", [COPIED, LOADED], ids=str)
@pytest.mark.parametrize("problem", [PROBLEM, BIASED, ProbeProblem(8, 64, True)], ids=lambda problem: problem.key)
def test_it_is_right(problem, schedule):
    verify(problem, OPERATOR.emit(problem, schedule))


@pytest.mark.parametrize("problem", [PROBLEM, BIASED], ids=lambda problem: problem.key)
def test_reference_kernel_is_right(problem):
    check_reference_kernel(OPERATOR, problem, partial(emulator.run, seed=0))
    check_checker(OPERATOR, problem, partial(emulator.run, seed=0))
    assert not emit_naive(problem).arch_suffix


LISTED = "the rows that the column keeps, each once"
BEHIND = "= arguments.counts[column], arguments.kept_rows[(column + 1) * arguments.rows - 1] = 0;"


def without_memset(program):
    return replace(program, steps=program.launches)


def second_first(program):
    first, memset, second = program.steps
    return replace(program, steps=(second, memset, first))


def cleared_too_much(program):
    """As if the counts lay where the first launch has left the maximum."""
    first, memset, second = program.steps
    left = dict(first.arguments)["largest"]
    return replace(program, steps=(first, replace(memset, offset=left.offset), second))


def shared_too_early(program):
    first, memset, second = program.steps
    maxima = dict(first.arguments)["maxima"]
    return replace(program, steps=(first.taking(largest=replace(maxima, offset=maxima.offset + 4)), memset, second))


@pytest.mark.parametrize(
    ("schedule", "plant", "error"),
    [
        (LOADED, without_memset, r"wrong: .* \(in kept\)"),
        (LOADED, second_first, r"wrong: .* \(in y\)"),
        (LOADED, cleared_too_much, r"wrong: .* \(in y\)"),
        (LOADED, shared_too_early, "expected parts that do not overlap"),
        (LOADED, edited("= arguments.counts[column];", "= arguments.counts[column] + (column == 0);"),
         r"wrong: .* \(in kept\)"),
        (LOADED, edited("+ place] = at.row;", "+ place] = 0;"), rf"expected {LISTED} \(in kept_rows\)"),
        (LOADED, edited("+ place] = at.row;", "+ place] = at.row + 1;"), rf"expected {LISTED} \(in kept_rows\)"),
        (LOADED, edited("+ place] = at.row;", "+ place + 1] = at.row;"), rf"expected {LISTED} \(in kept_rows\)"),
        (LOADED, edited("= arguments.counts[column];", BEHIND),
         r"first at \[0, 39\]: got 0, expected the gap untouched \(in kept_rows\)"),
        (LOADED, edited("*target = from", "if (at.row != 18) *target = from"), r"expected an element that .* \(in y\)"),
        (LOADED, edited("*target = from", "if (at.row != 39) *target = from"), r"first at \[\d+, \d+\]: .* \(in y\)"),
        (COPIED, edited("swizzled(2 * index, 128)", "swizzled(2 * index, 64)"), r"wrong: .* \(in y\)"),
        (COPIED, edited("arrived.wait(0)", "arrived.wait(1)"), "while the asynchronous copy .* is not waited for"),
    ],
)  # fmt: skip
def test_the_bug_is_caught(schedule, plant, error):
    with pytest.raises(EmulatorError, match=error):
        verify(PROBLEM, plant(emit(PROBLEM, schedule)))


def test_an_array_that_is_left_out_is_no_argument():
    planted = edited("+ at.column]);", "+ at.column]) + arguments.bias[at.column];")
    with pytest.raises(CompileError, match="bias"):
        verify(PROBLEM, planted(emit(PROBLEM, LOADED)))


def test_an_output_that_is_read_after_it_was_written_is_wrong_in_place_only():
    inside = "if (!at.inside) continue;"
    clear = "arguments.y[at.row * static_cast<long long>(arguments.ldy) + at.column] = {};"
    planted = edited(inside, f"{inside} {clear}")(emit(PROBLEM, LOADED))
    verify(PROBLEM, planted, seeds=(0,))
    with pytest.raises(EmulatorError, match=r"wrong: .* \(in y\)"):
        verify(PROBLEM, planted)
