"""GemvProblem and GemvSchedule → Program."""

from __future__ import annotations

from ...dtype import DType
from ...emission import comment, launch_comment
from ...headers import used_source
from ...integers import ceil_div
from ...problem_struct import problem_struct
from ...program import Argument, Launch, Program, cuda_arguments
from ...schedule import Specialize
from .activation import Activation
from .problem import GemvProblem, WeightOrder
from .schedule import GemvSchedule

ENTRY = "gemv"
_NAIVE_THREADS = 128


def emit(problem: GemvProblem, schedule: GemvSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    members, footprint = _arguments(problem, problem.dtype), schedule.footprint(problem)
    launch = footprint.launch(ENTRY, schedule.blocks(problem))
    facts = _facts(problem) | _edges(problem, schedule)
    body = used_source("matmul/gemv/gemv.cuh", "gemv_block", schedule.constants | _conditions(problem) | facts)
    served = problem.key if schedule.specialize is Specialize.SHAPE else _served(problem)
    source = f"""{comment(f"{ENTRY}: {served}")}
{comment(str(schedule))}
{launch_comment(launch)}

{cuda_arguments(members)}

{schedule.cuda_struct(body)}

{problem_struct([f"using Element = {problem.dtype.cuda};"], facts, _sizes(problem), schedule.specialize, body)}

{body}
{footprint.entry(ENTRY, "gemv_block(arguments);")}"""
    return Program(source, members, (launch,), schedule.workspace_bytes(problem))


def emit_naive(problem: GemvProblem) -> Program:
    """A thread for each output."""
    return _naive(problem, "float", problem.dtype)


def emit_reference(problem: GemvProblem) -> Program:
    """The same in double precision: the truth that the others are compared with on a device."""
    return _naive(problem, "double", DType.FLOAT64)


def _naive(problem: GemvProblem, number: str, result: DType) -> Program:
    members, facts = _arguments(problem, result), _facts(problem)
    body = used_source("matmul/gemv/naive.cuh", "gemv_naive", _conditions(problem) | facts)
    source = f"""{comment(f"{ENTRY}: {_served(problem)}, a thread for each output, in {number}")}

{cuda_arguments(members)}

{problem_struct([], facts, _sizes(problem), Specialize.NONE, body)}

{body}
extern "C" __global__ void __launch_bounds__({_NAIVE_THREADS}) {ENTRY}(const Arguments arguments) {{
  gemv_naive<{number}>(arguments, arguments.x, arguments.y);
}}
"""
    grid = ceil_div(problem.n * problem.m * problem.batch, _NAIVE_THREADS)
    return Program(source, members, (Launch(ENTRY, (grid, 1, 1), (_NAIVE_THREADS, 1, 1)),))


def _sizes(problem: GemvProblem) -> dict[str, tuple[str, int]]:
    """C++ type and value of what a kernel must know of a problem."""
    wide = ("ldx", "ldw", "ldy", "stride_x", "stride_w", "stride_y")
    return {name: ("int", getattr(problem, name)) for name in ("n", "k", "batch")} | {
        name: ("long long", getattr(problem, name)) for name in wide
    }


def _arguments(problem: GemvProblem, result: DType) -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    element = f"const {problem.dtype.cuda}*"
    return (
        Argument("x", element),
        Argument("w", element),
        *([Argument("bias", element)] if problem.bias else []),
        Argument("y", f"{result.cuda}*"),
        Argument("workspace", "void*"),
        *(Argument(name, kind, value) for name, (kind, value) in _sizes(problem).items()),
        Argument("alpha", "float"),
        Argument("beta", "float"),
    )


def _conditions(problem: GemvProblem) -> dict[str, int | str]:
    """What conditions in headers name beside facts and the schedule."""
    names: dict[str, int | str] = {str(member): str(member) for member in (*WeightOrder, *Activation)}
    return names | {"order": str(problem.order), "activation": str(problem.activation)}


def _facts(problem: GemvProblem) -> dict[str, int | str]:
    """What a source is specialised for in any case."""
    return {
        "m": max(1, problem.m),  # C++ has no arrays of no elements; of no vectors nothing is launched
        "along_k": problem.order is WeightOrder.NK,
        "batched": problem.batch > 1,
        "bias": problem.bias,
        "beta_nonzero": problem.beta_nonzero,
    }


def _edges(problem: GemvProblem, schedule: GemvSchedule) -> dict[str, int | str]:
    """Whether the last block or step has less than a whole one, a row of W ends within a vector; accesses to x."""
    _, columns = problem.stored["w"]
    count = schedule.vector_width if problem.order is WeightOrder.NK else schedule.loads_in_flight
    return {
        "edge_n": problem.n % schedule.block_n(problem) != 0,
        "edge_k": problem.k % schedule.block_k(problem) != 0,
        "ragged": columns % schedule.vector_width != 0,
        "width_x": min(count, problem.vector_width("x")),
    }


def _served(problem: GemvProblem) -> str:
    """The problems that an unspecialised source serves: equal sources say the same."""
    scaled = f"{problem.activation}(alpha*W*x{' + bias' if problem.bias else ''})"
    formula = f"y = {scaled}{' + beta*y' if problem.beta_nonzero else ''}"
    batches = "batches of " if problem.batch > 1 else ""
    return f"{formula}, {batches}{problem.m} vectors of {problem.dtype}, W stored as {problem.order}"
