"""The ladder where there is no GPU: the times of an operator's presets by the time model."""

from __future__ import annotations

from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.compiler import compile_kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.time_model import program_seconds

from .comparison import OWN
from .own_schedule import OwnSchedule


def modelled_ladder(
    operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, own: OwnSchedule
) -> dict[str, float]:
    """Modelled seconds of each preset, and of the schedule that serves, all by the compiled kernels' registers.

    Raises:
        ValueError: there is nothing to compute, the operator does not state what its presets do, or a kernel does not
            fit on an SM.
        CompileError: a kernel does not compile.
    """
    if operator.rungs is None:
        raise ValueError(f"no time model knows the presets of {operator.name}: their ladder needs a GPU")
    if problem.empty:
        raise ValueError(f"{operator.name} {problem.key} has nothing to compute: it has no ladder")
    works = operator.rungs(problem, spec)
    programs = {name: operator.presets[name](problem) for name in works} | {OWN: own.program(operator, problem, spec)}
    by, stated = (registered(own.restated.operator), own.restated.problem) if own.restated else (operator, problem)
    works = {**works, OWN: by.workload(stated, own.schedule, spec)}
    return {
        name: program_seconds(works[name], spec, compile_kernel(program, spec.arch).resources)
        for name, program in programs.items()
    }
