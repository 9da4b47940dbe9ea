"""SgemmProblem and SgemmSchedule → KernelSource."""

from __future__ import annotations

from ..schedule import Specialize
from ..source import Argument, KernelSource, Launch, cuda_arguments, inlined
from .problem import SgemmProblem
from .schedule import SgemmSchedule

ENTRY = "sgemm"
_NAIVE_TILE = 16  # rows and columns of C that a block of the naive kernel computes
# Members of the argument struct that follow from the problem, by type and name.
_NUMBERS = tuple(("int", name) for name in ("m", "n", "k", "lda", "ldb", "ldc")) + tuple(
    ("long long", name) for name in ("stride_a", "stride_b", "stride_c")
)


def emit(problem: SgemmProblem, schedule: SgemmSchedule) -> KernelSource:
    """The source of a schedule that is legal for the problem."""
    specialized = schedule.specialize is Specialize.SHAPE
    guards = _guards(problem, schedule)
    members = _arguments(problem)
    text = f"""// sgemm: C = alpha*op(A)*op(B) + beta*C, for {problem.key if specialized else _served(problem, guards)}
// {schedule}

{cuda_arguments(members)}

{schedule.cuda_struct()}

{_problem_struct(problem, guards, _wide(problem, schedule), specialized)}
{inlined("sgemm/sgemm.cuh")}
extern "C" __global__ void __launch_bounds__({schedule.threads}, {schedule.min_blocks})
    {ENTRY}(const Arguments arguments) {{
  sgemm_block(arguments);
}}
"""
    tiles = _divide_up(problem.m, schedule.block_m) * _divide_up(problem.n, schedule.block_n) * problem.batch
    launch = Launch((tiles * schedule.split_k, 1, 1), (schedule.threads, 1, 1), schedule.shared_bytes)
    return KernelSource(text, ENTRY, members, launch, _workspace_bytes(schedule, tiles))


def emit_naive(problem: SgemmProblem, coalesced: bool, number: str = "float") -> KernelSource:
    """A kernel with a thread for each word of C, which sums in `number` (``float`` or ``double``), the type of C."""
    members = _arguments(problem, number)
    text = f"""// sgemm: C = alpha*op(A)*op(B) + beta*C, for {_served(problem, {})}
// naive, {"coalesced" if coalesced else "uncoalesced"}, summing in {number}

{cuda_arguments(members)}

{_problem_struct(problem, {}, wide=True, specialized=False)}
{inlined("sgemm/naive.cuh")}
extern "C" __global__ void {ENTRY}(const Arguments arguments) {{
  sgemm_naive<{_NAIVE_TILE}, {"true" if coalesced else "false"}>(arguments, arguments.c);
}}
"""
    tiles = _divide_up(problem.m, _NAIVE_TILE) * _divide_up(problem.n, _NAIVE_TILE) * problem.batch
    return KernelSource(text, ENTRY, members, Launch((tiles, 1, 1), (_NAIVE_TILE**2, 1, 1)))


def _arguments(problem: SgemmProblem, number: str = "float") -> tuple[Argument, ...]:
    """The members of ``struct Arguments``, for every kernel of this operator."""
    return (
        Argument("a", "const float*"),
        Argument("b", "const float*"),
        Argument("c", f"{number}*"),
        Argument("workspace", "void*"),
        *(Argument(name, kind, getattr(problem, name)) for kind, name in _NUMBERS),
        Argument("alpha", "float"),
        Argument("beta", "float"),
    )


def _divide_up(value: int, divisor: int) -> int:
    return -(-value // divisor)


def _workspace_bytes(schedule: SgemmSchedule, tiles: int) -> int:
    """Split-K keeps a counter for each tile, in multiples of 16 bytes, and the tile's sum over each slice of k."""
    if schedule.split_k == 1:
        return 0
    return 16 * _divide_up(tiles, 4) + 4 * schedule.split_k * tiles * schedule.block_m * schedule.block_n


def _guards(problem: SgemmProblem, schedule: SgemmSchedule) -> dict[str, bool]:
    """For each of m, n, k: whether the last tile sticks out of the matrix."""
    return {f"guard_{name}": getattr(problem, name) % getattr(schedule, f"block_{name}") != 0 for name in "mnk"}


def _wide(problem: SgemmProblem, schedule: SgemmSchedule) -> bool:
    """Whether an offset inside of a tile may take more than 31 bits."""
    side = max(schedule.block_m, schedule.block_n, schedule.block_k)
    return side * (max(problem.lda, problem.ldb, problem.ldc) + 1) >= 2**31


def _served(problem: SgemmProblem, guards: dict[str, bool]) -> str:
    """The problems that an unspecialised text serves; it may not depend on anything else of the problem."""
    whole = [name.removeprefix("guard_") for name, guarded in guards.items() if not guarded]
    return f"{problem.layout} of any size" + (f" in whole tiles along {', '.join(whole)}" if whole else "")


def _problem_struct(problem: SgemmProblem, guards: dict[str, bool], wide: bool, specialized: bool) -> str:
    """``struct Problem``: what is known at compile time as constants, the rest read from the arguments."""
    facts = {"transpose_a": problem.transpose_a, "transpose_b": problem.transpose_b, **guards}
    lines = ["struct Problem {", f"  using Index = {'long long' if wide else 'int'};  // of offsets inside of a tile"]
    lines += [f"  static constexpr bool {name} = {'true' if value else 'false'};" for name, value in facts.items()]
    if specialized:
        lines += [f"  static constexpr {kind} {name} = {getattr(problem, name)};" for kind, name in _NUMBERS]
        lines.append("  __device__ explicit Problem(const Arguments&) {}")
    else:
        lines += [f"  const {kind} {name};" for kind, name in _NUMBERS]
        lines.append("  __device__ explicit Problem(const Arguments& arguments)")
        lines.append("      : " + ",\n        ".join(f"{name}(arguments.{name})" for _, name in _NUMBERS) + " {}")
    return "\n".join([*lines, "};"])
