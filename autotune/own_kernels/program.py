"""The program of a user's kernel: its source with macros, and an entry of ours that calls it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import comment, inlined

from .arguments import ArrayArgument, Entry
from .declaration import Declaration
from .problem import OwnProblem, OwnSchedule, three
from .source import Function, as_function

_THREADS = 256
_ENTRY = "autotune_"  # before the kernel's name, which the function has


def emit(problem: OwnProblem, schedule: OwnSchedule) -> Program:
    """The program of a legal schedule: one launch."""
    own, names = problem.declaration, schedule.names(problem)
    dimensions = schedule.grid(problem), schedule.block(problem), schedule.footprint(problem).shared_bytes
    return _launching(problem, own.entry, f"{_ENTRY}{own.name}", dimensions, names, str(schedule))


def emit_reference(problem: OwnProblem) -> Program:
    """The program of the entry that says what is right: outputs that may be rounded are double, as verification asks.

    The entry writes them to the workspace in their own type.
    """
    own, sizes = problem.declaration, problem.to_dict()
    stated = own.reference
    assert isinstance(stated, Entry)
    names = sizes | {name: own.default.get(name, values[0]) for name, values in own.parameters.items()}
    dimensions = three(stated.grid, sizes), three(stated.block, sizes), 0
    program = _launching(problem, stated.entry, f"{_ENTRY}reference", dimensions, names, "the reference")
    rounded = [one for one in problem.tensors if one.role is Role.OUTPUT and isinstance(one.judged, Within)]
    narrow = {one.name: f"{one.name}_narrow" for one in rounded}
    program = program.taking(**narrow)
    for tensor in rounded:
        program = program.then(_widening(tensor).taking(narrow=narrow[tensor.name], wide=tensor.name))
    return program.in_workspace(**{narrow[one.name]: one.bytes for one in rounded}) if rounded else program


def _launching(
    problem: OwnProblem,
    called: str,
    entry: str,
    dimensions: tuple[tuple[int, int, int], tuple[int, int, int], int],
    names: Mapping[str, Any],
    title: str,
) -> Program:
    """The program of a launch of one of the source's kernels, with macros of these names."""
    own, (grid, block, shared_bytes) = problem.declaration, dimensions
    function = as_function_once(own.source, called.partition("<")[0])
    launch = Launch(entry, (0, 1, 1) if problem.empty else grid, block, shared_bytes)
    members = tuple(own.values(problem.to_dict()))
    attributes = function.attributes or (f"__launch_bounds__({launch.threads})",)
    macros = {name: value for name, value in names.items() if name in own.parameters or name in own.macros}
    source = f"""{comment(f"{own.name}: {title}")}

{own.headers}
{cuda_arguments(members)}

{_defined(macros)}
#line 1
{function.source}

extern "C" __global__ void {" ".join(attributes)} {entry}(const Arguments arguments) {{
  {called}({", ".join(_passed(own, members))});
}}
"""
    return Program(source, members, (launch,))


def _widening(tensor: Tensor) -> Program:
    """A kernel that copies an output to one of doubles."""
    narrow, size = Argument("narrow", f"{tensor.dtype.cuda}*"), Argument("size", "long long", tensor.size)
    members = (narrow, Argument("wide", "double*"), size)
    headers = inlined("cuda/numbers.cuh")
    source = f"""{headers}
{cuda_arguments(members)}

__device__ __forceinline__ double widened(double value) {{ return value; }}
template <typename Number>
__device__ __forceinline__ double widened(Number value) {{ return to_float(value); }}

extern "C" __global__ void __launch_bounds__({_THREADS}) {_ENTRY}widen(const Arguments arguments) {{
  const long long i = blockIdx.x * static_cast<long long>({_THREADS}) + threadIdx.x;
  if (i < arguments.size) arguments.wide[i] = widened(arguments.narrow[i]);
}}
"""
    launch = Launch(f"{_ENTRY}widen", (ceil_div(tensor.size, _THREADS), 1, 1), (_THREADS, 1, 1))
    return Program(source, members, (launch,))


@lru_cache(maxsize=64)
def as_function_once(source: str, entry: str) -> Function:
    """`as_function`, which every schedule asks for."""
    return as_function(source, entry)


def _defined(macros: Mapping[str, Any]) -> str:
    plain = ((name, int(value) if isinstance(value, bool) else value) for name, value in macros.items())
    return "\n".join(f"#define {name} {value}" for name, value in plain)


def _passed(own: Declaration, members: Iterable[Argument]) -> Iterable[str]:
    """The arguments of the call, pointers to CUDA's own types as the kernel takes them."""
    for one in members:
        stated = own.arguments[one.name]
        of_cuda = stated.of_cuda if isinstance(stated, ArrayArgument) else ""
        yield f"({of_cuda}*)arguments.{one.name}" if of_cuda else f"arguments.{one.name}"
