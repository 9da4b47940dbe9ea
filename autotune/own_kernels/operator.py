"""What a declaration of a user's kernel becomes: an operator like those of this package."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.launch import grid_excess
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.derived import EmittedWorkload
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.verification import expected_dtype

from .arguments import Entry
from .call import call_of
from .declaration import Declaration
from .problem import OwnProblem, OwnSchedule, problem_type, schedule_type
from .program import emit, emit_reference

_SMALL, _SMALLER = 66, 33  # sizes at which the emulator verifies, unless stated
_POWERS = (64, 128, 256, 512)
_TRIED = 100_000  # draws among which the first legal one is looked for


def operator_of(own: Declaration, restored: Callable[..., Any]) -> Operator[Any, Any]:
    """The operator of a declaration; `restored` makes problems and schedules that another process has sent."""
    problems, schedules = problem_type(own, restored, _emulated), schedule_type(own, restored)
    space = partial(_space, schedules)
    return Operator(
        name=own.name,
        summary=own.summary,
        problem_type=problems,
        kernels=(
            Kernel(
                schedules,
                emit,
                constraints=partial(_violations, own),
                space=space,
                candidates=partial(_candidates, own, schedules),
                checks=partial(_checks, own),
                workload=_workload,
            ),
        ),
        presets={},
        reference=emit_reference if isinstance(own.reference, Entry) else None,
        reference_digest="" if isinstance(own.reference, Entry) else _digest(own.reference),
        default=partial(_default, own, schedules),
        call=call_of(own, problems),
    )


def _space(schedules: type[OwnSchedule], _problem: OwnProblem, _spec: DeviceSpec) -> Space[OwnSchedule]:
    return Space(field_parameters(schedules), schedules.from_dict)


def _violations(own: Declaration, problem: OwnProblem, schedule: OwnSchedule, _spec: DeviceSpec) -> Iterator[str]:
    """The constraints that a schedule breaks, and grids that there cannot be."""
    names = schedule.names(problem)
    try:
        broken = [one.explained(names) for one in own.constraints if not one.of(names)]
        yield from broken
        if not broken:
            schedule.block(problem), schedule.footprint(problem)
            yield from grid_excess(schedule.grid(problem))
    except ValueError as error:
        yield str(error)


def _workload(problem: OwnProblem, schedule: OwnSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """The bytes of all arrays and the stated operations, spread over the blocks."""
    (moved,) = EmittedWorkload(emit)(problem, schedule, spec)
    fused = problem.work.count(Unit.FP32) / Unit.FP32.operations / max(1, moved.blocks)
    clocks = fused / spec.rates[Unit.FP32]
    return (replace(moved, instructions=moved.instructions + fused / WARP, unit_clocks=clocks),)


def _candidates(
    own: Declaration, schedules: type[OwnSchedule], _problem: OwnProblem, _spec: DeviceSpec
) -> Iterator[OwnSchedule]:
    """The schedule to begin with, and those that differ from it in one parameter."""
    first = schedules()
    yield first
    for parameter in field_parameters(schedules):
        for value in parameter.values:
            yield schedules.from_dict({**first.to_dict(), parameter.name: value})


def _default(own: Declaration, schedules: type[OwnSchedule], problem: OwnProblem, spec: DeviceSpec) -> OwnSchedule:
    """The first legal candidate, or the first legal schedule at all.

    Raises:
        ValueError: there is none among many.
    """
    operator = OPERATORS[own.name]
    every = (schedules.from_dict(draw) for draw in operator.space(problem, spec).all_draws())
    for schedule in islice(chain(_candidates(own, schedules, problem, spec), every), _TRIED):
        wrong = operator.violations(problem, schedule, spec)
        if not wrong:
            return schedule
    raise ValueError(f"no schedule of {own.name} is legal for {problem.key}: {wrong[0]}")


def _checks(own: Declaration, problem: OwnProblem, schedule: OwnSchedule) -> list[tuple[OwnProblem, OwnSchedule]]:
    """Small problems for which a schedule is legal too: sizes as stated, or odd ones, or powers of two."""
    kind, sizes = type(problem), problem.to_dict()
    odd = [{name: min(size, most) for name, size in sizes.items()} for most in (_SMALL, _SMALLER)]
    powers = ({name: min(size, most) for name, size in sizes.items()} for most in _POWERS)
    found: list[OwnProblem] = []
    for stated in chain(odd, powers):
        small = kind.from_dict({**stated, **own.small})
        if small not in found and not any(_broken(own, small, schedule)):
            found.append(small)
        if len(found) == len(odd) or (found and own.small.keys() == sizes.keys()):
            break
    return [(small, schedule) for small in found or [problem]]


def _broken(own: Declaration, problem: OwnProblem, schedule: OwnSchedule) -> Iterator[str]:
    names = schedule.names(problem)
    return (str(one) for one in own.constraints if not one.of(names))


def _digest(reference: Callable[..., Any]) -> str:
    """Of what a function computes, as far as its own text says."""
    try:
        text = inspect.getsource(reference)
    except (OSError, TypeError):
        code: Any = getattr(reference, "__code__", None)
        text = repr((code.co_code, code.co_consts, code.co_names)) if code else repr(type(reference))
    return hashlib.sha256(text.encode()).hexdigest()


def _emulated(problem: OwnProblem, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
    """What the entry that says what is right computes, in the emulator."""
    from autotune.emulator import run

    wide = [replace(one, dtype=expected_dtype(one)) if one.role is Role.OUTPUT else one for one in problem.tensors]
    arrays = {one.name: np.zeros(one.size, one.dtype.numpy) for one in wide if one.role is Role.OUTPUT}
    run(emit_reference(problem), wide, {**inputs, **arrays}, scalars)
    return arrays
