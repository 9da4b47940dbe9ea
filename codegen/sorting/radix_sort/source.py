"""What the sources of all kernels of radix_sort have in common."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.sorting.key_source import UNSIGNED, key_conditions, key_facts, key_types
from autotune.codegen.sorting.values import Values
from autotune.codegen.source.kernel_source import KernelSource

from .problem import RadixSortProblem


def source_of(
    problem: RadixSortProblem,
    scalars: list[Argument],
    facts: Mapping[str, int],
    *,
    workspace: bool = False,
    **conditions: bool,
) -> KernelSource:
    """`scalars` are the last members of ``struct Arguments``."""
    has_values = problem.values is not Values.NONE
    types = [*key_types(problem.dtype), f"using Count = {UNSIGNED[count_bytes(problem)]};"]
    if has_values:
        types.append(f"using Value = {UNSIGNED[problem.carried_bytes]};")
        types.append(f"using Result = {UNSIGNED[problem.values.bytes]};")
    return KernelSource(
        "radix_sort",
        "sorting/radix_sort",
        problem,
        types=types,
        facts={
            **key_facts(problem.dtype),
            "begin_bit": problem.begin_bit,
            "end_bit": problem.last_bit,
            **facts,
        },
        conditions={
            **key_conditions(problem.dtype),
            "cut": problem.last_bit < problem.dtype.bits,
            "has_values": has_values,
            "writes_keys": not problem.order_only,
            "indices": problem.values.is_index,
            "widened": has_values and problem.values.bytes != problem.carried_bytes,
            **conditions,
        },
        workspace=workspace,
        scalars=scalars,
        served=_served(problem),
    )


def with_parts(program: Program, problem: RadixSortProblem, value_bytes: int, **parts: int) -> Program:
    """The program with spare keys and values, as far as it takes any, beside other parts."""
    count = problem.rows * problem.columns
    parts |= {"keys_out": count * problem.dtype.bytes} if problem.order_only else {}
    parts |= {"spare_keys": count * problem.dtype.bytes, "spare_values": count * value_bytes}
    taken = {name for launch in program.launches for _, name in launch.arguments}
    taken |= {argument.name for argument in program.arguments}
    own = {name: max(1, size) for name, size in parts.items() if name in taken}
    return program.in_workspace(**own) if own else program


def count_bytes(problem: RadixSortProblem) -> int:
    """Bytes of a number of a row's keys."""
    return 8 if problem.wide else 4


def _served(problem: RadixSortProblem) -> str:
    """The problems that a shape-generic source serves: equal sources say the same."""
    bits = f", bits {problem.begin_bit} to {problem.last_bit - 1}" * problem.cut
    carried = f" with {problem.values}" * (problem.values is not Values.NONE)
    return f"{'order of ' * problem.order_only}{problem.dtype}{carried}{', descending' * problem.descending}{bits}"
