"""Whether a kernel computes its problem: a run for each of several orders of its threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role
from autotune.verification import (
    POISONS,
    Mismatch,
    difference,
    exact_launch_inputs,
    is_sampled,
    judge,
    launch_arrays,
    unwritten,
)

from .build import NEWEST
from .launch import EmulatorError, run

SEEDS = (0, 1, 2)  # threads go up, go down, and go at random

_Arrays = Mapping[str, Array]


def verify(
    problem: Problem,
    program: Program,
    seeds: Iterable[int] = SEEDS,
    compute_capability: tuple[int, int] = NEWEST,
) -> float:
    """Run a kernel on the problem's inputs, poisoned outputs beside them, and compare each output as a whole.

    A seed stands for an order of the threads and for inputs. The second one's inputs are those of the first, so that
    outputs that depend on the order show, unless the problem allows that. With the second seed, a kernel with a
    workspace is launched twice on the same one, and outputs that may be an input's array are. From the second seed on,
    outputs have the other poison. From the third on, inputs are `Problem.exact_inputs`, if there are any.

    Where the source has branches by architecture, those of `compute_capability` are taken.

    Returns:
        The largest absolute error.

    Raises:
        EmulatorError: the kernel misbehaved, or an output is wrong: the message begins with ``wrong:``.
        CompileError: g++ refused the kernel.
        HostCompilerMissingError: there is no g++.
    """
    first, *others = seeds
    launched = partial(_launched, problem, partial(run, program, compute_capability=compute_capability))
    before, rows = launch_arrays(problem, first), problem.sampled_rows(first)
    expected = _expected(problem, before, rows)
    before_first, after = before, launched(before, first)
    errors = [_judged(problem, before, after, expected, rows)]
    for seed in others[:1]:
        before = launch_arrays(problem, first, POISONS[1])
        before |= {tensor.name: before[tensor.in_place] for tensor in problem.tensors if tensor.in_place}
        again = launched(before, seed, runs=2 if program.workspace_bytes else 1)
        errors.append(_judged(problem, before, again, expected, rows))
        _require_written(problem, (before_first, after), (before, again), rows)
        if problem.deterministic:
            _require_same(problem, after, again)
    for seed in others[1:]:
        exact = exact_launch_inputs(problem, seed)
        before = launch_arrays(problem, seed, POISONS[1]) | (exact or {})
        after_others, rows = launched(before, seed), problem.sampled_rows(seed)
        expected = _expected(problem, before, rows)
        errors.append(_judged(problem, before, after_others, expected, rows, exact=exact is not None))
    return max(errors)


def _expected(problem: Problem, before: _Arrays, rows: Array | None) -> _Arrays:
    inputs = {tensor.name: before[tensor.name] for tensor in problem.tensors if tensor.role is not Role.OUTPUT}
    if rows is None:
        return problem.reference(inputs, problem.scalars)
    return problem.reference_rows(inputs, problem.scalars, rows)


def _launched(problem: Problem, run: Callable[..., None], before: _Arrays, seed: int, *, runs: int = 1) -> _Arrays:
    """What tensors hold after a launch; those that are one array before it are one after it."""
    copies = {id(array): array.copy() for array in before.values()}
    after = {name: copies[id(array)] for name, array in before.items()}
    run(problem.tensors, after, problem.scalars, seed=seed, runs=runs)
    return after


def _judged(
    problem: Problem, before: _Arrays, after: _Arrays, expected: _Arrays, rows: Array | None, *, exact: bool = False
) -> float:
    errors = [0.0]
    for name, outcome in judge(problem, before, after, expected, exact=exact, rows=rows).items():
        if isinstance(outcome, Mismatch):
            raise EmulatorError(f"{outcome} (in {name})")
        errors.append(outcome)
    return max(errors)


def _require_written(
    problem: Problem, first: tuple[_Arrays, _Arrays], second: tuple[_Arrays, _Arrays], rows: Array | None
) -> None:
    for tensor in problem.tensors:
        if tensor.role is Role.OUTPUT and is_sampled(tensor, rows):
            name, counts = tensor.name, first[1][tensor.extent.count] if tensor.extent else None
            one, other = ((before[name], after[name]) for before, after in (first, second))
            if found := unwritten(tensor, one, other, counts):
                raise EmulatorError(f"{found} (in {name})")


def _require_same(problem: Problem, first: _Arrays, second: _Arrays) -> None:
    for tensor in problem.tensors:
        counts = first[tensor.extent.count] if tensor.extent else None
        if tensor.role is not Role.INPUT and (
            found := difference(tensor, first[tensor.name], second[tensor.name], counts)
        ):
            raise EmulatorError(f"wrong: {found} (in {tensor.name})")
