"""Whether a kernel computes its problem: a run for each of several orders of its threads."""

from __future__ import annotations

from collections.abc import Iterable

from ..codegen.problem import Array, Problem
from ..codegen.program import Program
from ..codegen.tensor import Role
from ..verification import Mismatch, compare, poisoned
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
    inputs = problem.inputs(seed)
    outputs = [tensor for tensor in problem.tensors if tensor.role is not Role.INPUT]
    arrays = {name: array.copy() for name, array in inputs.items()}
    arrays |= {tensor.name: poisoned(tensor) for tensor in outputs if tensor.role is Role.OUTPUT}
    run(program, problem.tensors, arrays, problem.scalars, seed=seed, runs=launches)
    expected = problem.reference(inputs, problem.scalars)
    bound = problem.error_bound(problem.scalars)
    return max((_compared(arrays[t.name], expected[t.name], bound, t.name) for t in outputs), default=0.0)


def _compared(actual: Array, expected: Array, bound: float, name: str) -> float:
    outcome = compare(actual, expected, bound)
    if isinstance(outcome, Mismatch):
        raise EmulatorError(f"{outcome} (in {name})")
    return outcome
