"""PackProblem and PackSchedule → Program."""

from __future__ import annotations

from autotune.codegen.matmul.gemv.weights import SYMMETRIC_ZERO, Weights
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import PackProblem
from .quantise import codes_between, steps_of
from .schedule import PackSchedule


def emit(problem: PackProblem, schedule: PackSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = _vectors(problem, schedule)
    return _source(problem).scheduled(schedule, facts=facts, served=_served(problem, schedule))


def emit_naive(problem: PackProblem) -> Program:
    """A thread for each group: the reference, too, since all outputs are exact."""
    return _source(problem).plain(", a thread for each group", problem.group_count)


def _source(problem: PackProblem) -> KernelSource:
    """Groups are `down` by `across`."""
    (down, across), (least, most) = problem.groups_shape, codes_between(problem.weights)
    return KernelSource(
        "pack",
        "matmul/pack",
        problem,
        types=using(Element=problem.dtype, Scale=problem.scale_dtype, Code=problem.code_dtype),
        facts={
            "packed": problem.weights.packed,
            "group_size": problem.group_size,
            "group_rows": problem.group_rows,
            "steps": steps_of(problem.weights, zeros=problem.zeros),
            "zero": SYMMETRIC_ZERO if problem.weights is Weights.INT4 else 0,
            "least": least,
            "most": most,
            "scale_is_float32": problem.scale_dtype is DType.FLOAT32,
        },
        sizes=sizes_of(problem, "n", "k")
        | {"down": ("int", down), "across": ("int", across)}
        | sizes_of(problem, "ldw", "ldq"),
        served=_described(problem),
    )


def _vectors(problem: PackProblem, schedule: PackSchedule) -> dict[str, int | str]:
    """How weights and codes move: one by one, or all of a vector; and how many vectors a thread keeps."""
    held, width = schedule.held(problem), schedule.vector_width
    return {
        "ragged": problem.k % width != 0,
        "gathered": width > problem.vector_width("w"),
        "scattered": width // problem.weights.packed > problem.vector_width("q"),
        "held": held,
        "rounds": schedule.rounds(problem) if held else 0,
    }


def _described(problem: PackProblem) -> str:
    """What an unspecialised source computes."""
    groups = f"groups of {problem.group_size}" if problem.group_size else "rows"
    zeros = " and zero points" if problem.zeros else ""
    return f"{problem.dtype} as {problem.weights}, with scales{zeros} of {problem.scale_dtype} for {groups}"


def _served(problem: PackProblem, schedule: PackSchedule) -> str:
    """The problems that a source serves, one or all of a kind: equal sources say the same."""
    if schedule.specialize is Specialize.SHAPE:
        return problem.key
    served, facts = _described(problem), _vectors(problem, schedule)
    if facts["held"] and not problem.group_size:
        step = schedule.threads_per_group * schedule.vector_width
        served += f", of {(schedule.rounds(problem) - 1) * step + 1} to {schedule.rounds(problem) * step} columns"
    if facts["ragged"]:
        served += ", that end within vectors"
    one_by_one = [name for name, fact in (("weights", "gathered"), ("codes", "scattered")) if facts[fact]]
    return served + (f", {' and '.join(one_by_one)} one by one" if one_by_one else "")
