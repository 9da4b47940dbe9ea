"""What the programs of all kernels of attention have in common, and those of kernels without a schedule."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule, Specialize
from autotune.codegen.source.arguments import pointer_arguments, size_arguments
from autotune.codegen.source.headers import Constant, used_source
from autotune.codegen.source.plain_program import plain_program
from autotune.codegen.source.problem_struct import double_constants, problem_struct
from autotune.codegen.source.scheduled_source import scheduled_source

from .problem import AttentionProblem

ENTRY = "attention"
_NAIVE_THREADS = 128
_MOST_REFERENCE_BLOCKS = 1 << 16  # each takes one row after the other


def scheduled(
    problem: AttentionProblem,
    schedule: Schedule,
    header: str,
    block: str,
    blocks: int,
    *,
    facts: Mapping[str, Constant] | None = None,
    maps: tuple[Argument, ...] = (),
    functions: str = "",
) -> Program:
    """The program of a schedule, of one launch.

    Args:
        problem, schedule: what is computed, and how.
        header, block: the function of a block, and its file.
        blocks: of the grid.
        facts: what the kernel's headers name beside the schedule and what all kernels know of the problem.
        maps: tensor maps.
        functions: source that the kernel has beside its headers.
    """
    footprint, known = schedule.footprint(problem), _facts(problem) | dict(facts or {})
    launch = footprint.launch(ENTRY, blocks)
    specialize: Specialize = getattr(schedule, "specialize")  # noqa: B009 - all kernels have it
    body = used_source(header, block, schedule.constants | known)
    types = _types(problem, body)
    declared = problem_struct(types, known, _sizes(problem), specialize, body)
    declared += f"\n\n{functions}" if functions else ""
    entry = footprint.entry(ENTRY, f"{block}(arguments);", tensor_maps=bool(maps))
    members = (*maps, *_arguments(problem))
    served = problem.key if specialize is Specialize.SHAPE else _served(problem)
    source = scheduled_source(f"{ENTRY}: {served}", schedule, launch, members, declared, body, entry)
    return Program(source, members, (launch,), arch_suffix=footprint.arch_suffix)


def emit_naive(problem: AttentionProblem) -> Program:
    """A block for each row, which computes its scores twice."""
    return _naive(problem, "float", problem.batch * problem.queries * problem.heads)


def emit_reference(problem: AttentionProblem) -> Program:
    """The same in double precision for rows that are listed: the truth that others are compared with on a device."""
    rows = problem.batch * problem.queries * problem.heads
    return _naive(problem, "double", min(rows, _MOST_REFERENCE_BLOCKS), reference=True)


def _naive(problem: AttentionProblem, number: str, blocks: int, *, reference: bool = False) -> Program:
    known = _facts(problem) | {"reference": reference}
    members = _arguments(problem, reference=reference)
    body = used_source("attention/attention/naive.cuh", "attention_naive", known)
    size = (DType.FLOAT64 if reference else DType.FLOAT32).bytes
    shared = size * (_NAIVE_THREADS + _NAIVE_THREADS // WARP)
    launch = Launch(ENTRY, (blocks, 1, 1), (_NAIVE_THREADS, 1, 1), shared)
    declared = problem_struct(_types(problem, body), known, _sizes(problem), Specialize.NONE, body)
    call = f"attention_naive<{_NAIVE_THREADS}, {number}>(arguments);"
    title = f"{ENTRY}: {_served(problem)}, a block for each row, in {number}"
    return plain_program(title, members, declared, body, {launch: call})


def _arguments(problem: AttentionProblem, *, reference: bool = False) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    wide = {"o", "lse"} if reference else set()
    rows = (Argument("sampled_rows", "const long long*"), Argument("sampled_count", "long long"))
    return (
        *pointer_arguments(problem.tensors, wide, {"o"} if reference else ()),
        *size_arguments(_sizes(problem)),
        *(Argument(name, "float") for name in ("scale", "softcap")),
        *(rows if reference else ()),
    )


def _types(problem: AttentionProblem, body: str) -> list[str]:
    numbers = {"usual_scale": problem.usual_scale, "flushed": problem.flushed}
    return [f"using Element = {problem.dtype.cuda};", *double_constants(numbers, body)]


def _sizes(problem: AttentionProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    counts = {name: getattr(problem, name) for name in ("queries", "keys", "heads", "group", "low", "high")}
    strides = {
        field: stride
        for stated in problem.layouts.values()
        for field, stride in zip(stated.fields, stated.strides, strict=True)
    }
    return {name: ("int", value) for name, value in counts.items()} | {
        name: ("long long", value) for name, value in strides.items()
    }


def _facts(problem: AttentionProblem) -> dict[str, Constant]:
    """What a source is specialised for in any case."""
    return {
        "head_dim": problem.head_dim,
        "value_dim": problem.value_elements,
        "bounded_left": problem.bounded_left,
        "bounded_right": problem.bounded_right,
        "softcap": problem.softcap,
        "sinks": problem.sinks,
        "lse": problem.lse,
    }


def _served(problem: AttentionProblem) -> str:
    """The problems that an unspecialised source serves: equal sources say the same."""
    with_or_in = {
        "keys bounded on the left": problem.bounded_left,
        "keys bounded on the right": problem.bounded_right,
        "softcap": problem.softcap,
        "sinks": problem.sinks,
        "lse": problem.lse,
    }
    heads = f"heads of {problem.head_dim} and {problem.value_elements} {problem.dtype}"
    return ", ".join([heads, *(name for name, there in with_or_in.items() if there)])
