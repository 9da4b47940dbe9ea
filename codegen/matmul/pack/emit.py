"""PackProblem and PackSchedule → Program."""

from __future__ import annotations

from autotune.codegen.matmul.gemv.weights import SYMMETRIC_ZERO, Weights
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .problem import PackProblem
from .quantise import codes_between, steps_of
from .schedule import PackSchedule

ENTRY = "pack"
_NAIVE_THREADS = 128


def emit(problem: PackProblem, schedule: PackSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, footprint = _arguments(problem), schedule.footprint(problem)
    launch = footprint.launch(ENTRY, schedule.blocks(problem))
    facts = _facts(problem) | _vectors(problem, schedule)
    body = used_source("matmul/pack/pack.cuh", "pack_block", schedule.constants | _conditions(problem) | facts)
    declared = problem_struct(_types(problem), facts, _sizes(problem), schedule.specialize, body)
    entry = footprint.entry(ENTRY, "pack_block(arguments);")
    title = f"{ENTRY}: {_served(problem, schedule)}"
    source = scheduled_source(title, schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,))


def emit_naive(problem: PackProblem) -> Program:
    """A thread for each group: the reference, too, since all outputs are exact."""
    members, facts = _arguments(problem), _facts(problem)
    body = used_source("matmul/pack/naive.cuh", "pack_naive", _conditions(problem) | facts)
    grid = ceil_div(problem.group_count, _NAIVE_THREADS)
    launch = Launch(ENTRY, (grid, 1, 1), (_NAIVE_THREADS, 1, 1))
    declared = problem_struct(_types(problem), facts, _sizes(problem), Specialize.NONE, body)
    title = f"{ENTRY}: {_described(problem)}, a thread for each group"
    return plain_program(title, members, declared, body, {launch: "pack_naive(arguments);"})


def _types(problem: PackProblem) -> list[str]:
    types = {"Element": problem.dtype, "Scale": problem.scale_dtype, "Code": problem.code_dtype}
    return [f"using {name} = {dtype.cuda};" for name, dtype in types.items()]


def _sizes(problem: PackProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem; groups are `down` by `across`."""
    down, across = problem.groups_shape
    ints = {"n": problem.n, "k": problem.k, "down": down, "across": across}
    wide = {"ldw": problem.ldw, "ldq": problem.ldq}
    return {name: ("int", value) for name, value in ints.items()} | {
        name: ("long long", value) for name, value in wide.items()
    }


def _arguments(problem: PackProblem) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    return (*pointer_arguments(problem.tensors), *size_arguments(_sizes(problem)))


def _conditions(problem: PackProblem) -> dict[str, int | str]:
    """What conditions in headers name beside facts and the schedule."""
    names: dict[str, int | str] = {str(member): str(member) for member in Weights}
    return names | {
        "weights": str(problem.weights),
        "zeros": problem.zeros,
        "scale_is_float32": problem.scale_dtype is DType.FLOAT32,
    }


def _facts(problem: PackProblem) -> dict[str, int | str]:
    """What a source is specialised for in any case."""
    least, most = codes_between(problem.weights)
    return {
        "packed": problem.weights.packed,
        "group_size": problem.group_size,
        "group_rows": problem.group_rows,
        "steps": steps_of(problem.weights, zeros=problem.zeros),
        "zero": SYMMETRIC_ZERO if problem.weights is Weights.INT4 else 0,
        "least": least,
        "most": most,
    }


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
