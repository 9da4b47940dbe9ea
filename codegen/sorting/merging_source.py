"""What the sources of all kernels that merge have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Problem
from autotune.codegen.source.kernel_source import KernelSource

from .key_source import UNSIGNED, key_conditions, key_facts, key_types
from .values import Values


def merging_source(
    entry: str,
    problem: Problem,
    dtype: DType,
    values: Values,
    scalars: Sequence[Argument] = (),
    types: Sequence[str] = (),
    *,
    served: str = "",
    conditions: Mapping[str, bool] | None = None,
) -> KernelSource:
    """`scalars` are the last members of ``struct Arguments``; conditions in headers name `conditions` besides."""
    has_values = values is not Values.NONE
    carried = [f"using Value = {UNSIGNED[values.bytes]};"] if has_values else []
    return KernelSource(
        entry,
        f"sorting/{entry}",
        problem,
        types=[*key_types(dtype), *carried, *types],
        facts=key_facts(dtype),
        conditions={
            **key_conditions(dtype),
            "cut": False,
            "has_values": has_values,
            "indices": values.is_index,
            **(conditions or {}),
        },
        scalars=scalars,
        served=served,
    )
