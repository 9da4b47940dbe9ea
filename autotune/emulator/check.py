"""Whether a kernel computes its problem: a run for each of several orders of its threads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..codegen.problem import Array, Problem
from ..codegen.program import Program
from ..codegen.tensor import Role
from ..verification import Mismatch, compare, launch_arrays, scale_name
from .launch import EmulatorError, run

SEEDS = (0, 1, 2)  # threads go up, go down, and go at random


def verify(problem: Problem, program: Program, seeds: Iterable[int] = SEEDS) -> float:
    """Run a kernel on the problem's inputs, poisoned outputs beside them, and compare each output as a whole.

    A kernel with a workspace is launched twice on the same one with the second seed.

    Returns:
        The largest absolute error.

    Raises:
        EmulatorError: the kernel misbehaved, or an output is wrong: the message begins with ``wrong:``.
        CompileError: g++ refused the kernel.
        HostCompilerMissingError: there is no g++.
    """
    runs = [(seed, 2 if program.workspace_bytes and index == 1 else 1) for index, seed in enumerate(seeds)]
    return max(_error(problem, program, seed, launches) for seed, launches in runs)


def _error(problem: Problem, program: Program, seed: int, launches: int) -> float:
    before = launch_arrays(problem, seed)
    after = {name: array.copy() for name, array in before.items()}
    run(program, problem.tensors, after, problem.scalars, seed=seed, runs=launches)
    return _judged(problem, before, after)


def _judged(problem: Problem, before: Mapping[str, Array], after: Mapping[str, Array]) -> float:
    """Compare what a launch left with what `Problem.reference` makes of what was there; the largest absolute error.

    Raises:
        EmulatorError: an output is wrong.
    """
    inputs = {tensor.name: before[tensor.name] for tensor in problem.tensors if tensor.role is not Role.OUTPUT}
    expected = problem.reference(inputs, problem.scalars)
    errors = [0.0]
    for tensor in problem.tensors:
        if tensor.role is not Role.INPUT:
            name = tensor.name
            outcome = compare(tensor, after[name], expected[name], before[name], expected.get(scale_name(tensor)))
            if isinstance(outcome, Mismatch):
                raise EmulatorError(f"{outcome} (in {name})")
            errors.append(outcome)
    return max(errors)
